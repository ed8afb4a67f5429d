# SPDX-License-Identifier: Apache-2.0

"""The components of the calendar and of the caller, which the web page reads."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http.json_schema import BOOLEAN
from climate.api.http.json_schema import by_name
from climate.api.http.json_schema import choice
from climate.api.http.json_schema import COUNT
from climate.api.http.json_schema import Json
from climate.api.http.json_schema import listed
from climate.api.http.json_schema import or_null
from climate.api.http.json_schema import record
from climate.api.http.json_schema import ref
from climate.api.http.json_schema import TEXT
from climate.api.http.json_schema import WHOLE
from climate.domain.lifecycles import LeaseStatus

_FLAGS: Final = listed({'type': 'integer', 'enum': [0, 1]})
_NUMBERS: Final = listed(WHOLE)
_TEXTS: Final = listed(TEXT)


def components() -> dict[str, Json]:
    """Return the components, by name; lists of one object are as long as each other."""
    page: Json = {
        'resource_type': TEXT,
        'start': WHOLE,
        'end': WHOLE,
        'generation': TEXT,
        'total': COUNT,
        'group_by': or_null(TEXT),
        'groups': record({'value': listed(or_null(TEXT)), 'count': listed(COUNT)}),
        'resources': _resources(),
        'capacities': listed(by_name(COUNT)),
        'main': listed(or_null(TEXT)),
        'allocations': _allocations(),
        'held': _NUMBERS,
        'leases': _leases(),
        'maintenances': _maintenances(),
        'next_marker': WHOLE,
    }
    return {
        'Calendar': {
            'description': 'Instants are seconds since 1970.',
            **record(page, optional=('groups', 'next_marker')),
        },
        'Caller': _caller(),
    }


def _resources() -> Json:
    columns: dict[str, Any] = {
        'id': _NUMBERS,
        'name': _TEXTS,
        'disabled': _FLAGS,
        'failed': _FLAGS,
        'capacity': _NUMBERS,
        'group': listed(or_null(TEXT)),
    }
    return record(columns, optional=('group',))


def _allocations() -> Json:
    columns = ('resource', 'start', 'end', 'amount', 'share', 'lease')
    return record(dict.fromkeys(columns, _NUMBERS))


def _leases() -> Json:
    columns: dict[str, Any] = {
        'id': _TEXTS,
        'name': _TEXTS,
        'status': listed(choice(LeaseStatus)),
        'mine': _FLAGS,
        'project_id': _TEXTS,
        'firm_at': listed(or_null(WHOLE)),
    }
    return record(columns, optional=('project_id', 'firm_at'))


def _maintenances() -> Json:
    columns: dict[str, Any] = {
        'resource': _NUMBERS,
        'start': _NUMBERS,
        'end': _NUMBERS,
        'id': _TEXTS,
    }
    return record(columns, optional=('id',))


def _caller() -> Json:
    return record(
        {
            'user_id': or_null(TEXT),
            'user_name': or_null(TEXT),
            'project_id': or_null(TEXT),
            'project_name': or_null(TEXT),
            'roles': _TEXTS,
            'admin': BOOLEAN,
            'token_expires_at': or_null(ref('Time')),
            'may': by_name(BOOLEAN),
            'server_time': WHOLE,
        }
    )
