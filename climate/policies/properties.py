# SPDX-License-Identifier: Apache-2.0

"""Policy rules for the names and values of properties."""

from __future__ import annotations

from climate.policies import base

LIST = 'climate:properties:list'
UPDATE = 'climate:properties:update'
PRIVATE = 'climate:properties:private'

_ALL = '/v1/os-hosts/properties'
_ANY = '/v1/resources/properties'

RULES = (
    base.documented(
        LIST,
        base.PROJECT_READER_OR_ADMIN,
        'List the public properties of resources and their values.',
        f'GET {_ALL}',
        f'GET {_ANY}',
    ),
    base.documented(
        UPDATE,
        base.ADMIN,
        'Make a property private or public.',
        f'PATCH {_ALL}/{{property_name}}',
        f'PATCH {_ANY}/{{property_name}}',
    ),
    base.documented(
        PRIVATE,
        base.ADMIN,
        'See private properties, in lists of properties and on resources.',
        f'GET {_ALL}',
        f'GET {_ANY}',
        'GET /v1/os-hosts',
        'GET /v1/os-hosts/{host_id}',
        'GET /v1/resources',
        'GET /v1/resources/{resource_id}',
    ),
)
