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

"""Changes of the reservations of a lease: amounts, requirements and other fields."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

from osc_lib import exceptions

from climate.client.reservations import Reservation
from climate.client.sdk.leases import Lease

# What tells reservations of one type apart; it is not changed.
_IDENTITIES: Final = ('flavor_id', 'network_id', 'network_name', 'server_id', 'name', 'size')


def changes(lease: Lease, wanted: Iterable[Reservation]) -> list[dict[str, Any]]:
    """Return the changes that options describe, each with the id of its reservation.

    :param wanted: reservations with the fields that change, and with their type or id unless the
        lease has only one
    :raises osc_lib.exceptions.CommandError: if it is not clear which reservation is meant, or
        if two changes are for the same
    """
    found: dict[str, dict[str, Any]] = {}
    for each in wanted:
        present = _present(lease, each)
        if present['id'] in found:
            raise exceptions.CommandError(
                f'Two changes are for the reservation {present["id"]}; give its options once'
            )
        found[present['id']] = {
            key: value
            for key, value in each.items()
            if key not in ('id', 'resource_type') and present.get(key, ...) != value
        }
    return [{'id': key, **fields} for key, fields in found.items() if fields]


def _present(lease: Lease, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reservation that a change is for."""
    items: list[dict[str, Any]] = lease.reservations or []
    if 'id' in wanted:
        found = [each for each in items if each['id'].startswith(str(wanted['id']))]
    else:
        kind = wanted.get('resource_type')
        found = [each for each in items if kind in (None, each['resource_type'])]
    alike = [each for each in found if _is_same(each, wanted)]
    found = alike if len(found) > 1 and alike else found
    if len(found) == 1:
        return found[0]
    what = str(wanted.get('id') or wanted.get('resource_type') or 'a reservation')
    if not found:
        kinds = ', '.join(sorted({str(each['resource_type']) for each in items}))
        raise exceptions.CommandError(f'Lease {lease.name!r} does not have {what}; it has {kinds}')
    ids = ', '.join(str(each['id']) for each in found)
    raise exceptions.CommandError(
        f'Lease {lease.name!r} has several reservations; give the id of one with --reservation '
        f'\'{{"id": "ID", …}}\': {ids}'
    )


def _is_same(present: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return any(
        key in wanted and present.get(key) == wanted[key] for key in _IDENTITIES if key in wanted
    )
