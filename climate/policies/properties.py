# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Policy rules for the names and values of properties."""

from __future__ import annotations

from oslo_policy import policy

from climate.policies import base

LIST = 'climate:properties:list'
UPDATE = 'climate:properties:update'
PRIVATE = 'climate:properties:private'

_ALL = '/v1/os-hosts/properties'
_ANY = '/v1/resources/properties'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules for properties."""
    return [
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
    ]
