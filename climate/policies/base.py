# SPDX-License-Identifier: Apache-2.0

"""Personas as rules of oslo.policy: admin, service, member and reader of a project."""

from __future__ import annotations

from oslo_policy import policy

ADMIN = 'rule:admin_api'
PROJECT_MEMBER_OR_ADMIN = 'rule:project_member_or_admin'
PROJECT_READER_OR_ADMIN = 'rule:project_reader_or_admin'
OPERATORS = 'service_or_admin'
"""The name of the rule of operators and services."""
SERVICE_OR_ADMIN = f'rule:{OPERATORS}'

# Every request needs a token of a project, since leases belong to projects.
SCOPE_TYPES = ['project']

RULES = (
    policy.RuleDefault('admin_api', 'role:admin', description='An operator of the cloud.'),
    policy.RuleDefault(
        'project_member_api',
        'role:member and project_id:%(project_id)s',
        description='A user who can change objects of the project.',
    ),
    policy.RuleDefault(
        'project_reader_api',
        'role:reader and project_id:%(project_id)s',
        description='A user who can see objects of the project.',
    ),
    policy.RuleDefault(
        'project_member_or_admin',
        'rule:project_member_api or rule:admin_api',
        description='A member of the project, or an operator.',
    ),
    policy.RuleDefault(
        'project_reader_or_admin',
        'rule:project_reader_api or rule:admin_api',
        description='A reader of the project, or an operator.',
    ),
    policy.RuleDefault(
        'service_or_admin',
        'role:service or rule:admin_api',
        description='Another service of the cloud, or an operator.',
    ),
)


def documented(
    name: str, persona: str, description: str, *routes: str
) -> policy.DocumentedRuleDefault:
    """Return a rule that is documented with its routes.

    :param routes: the routes that need it, such as ``GET /v1/leases``
    """
    operations: list[policy.Operation] = []
    for route in routes:
        method, path = route.split()
        operations.append({'method': method, 'path': path})
    return policy.DocumentedRuleDefault(
        name=name,
        check_str=persona,
        description=description,
        operations=operations,
        scope_types=SCOPE_TYPES,
    )
