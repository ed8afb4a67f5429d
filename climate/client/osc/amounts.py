# SPDX-License-Identifier: Apache-2.0

"""Changes of the reservations of a lease: amounts, requirements and other fields."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

from osc_lib import exceptions

from climate.client import nouns
from climate.client.reservations import Reservation
from climate.client.sdk.leases import Lease

# What distinguishes reservations of one type; it is not changed.
_IDENTITIES: Final = ('flavor_id', 'network_id', 'network_name', 'server_id', 'name', 'size')


def changes(lease: Lease, wanted: Iterable[Reservation]) -> list[dict[str, Any]]:
    """Return the changes that options describe, each with the id of its reservation.

    :param wanted: reservations with the fields that change, and with their type or id unless the
        lease has only one
    :raises osc_lib.exceptions.CommandError: if it is not clear which reservation is meant, or
        if two changes are for the same
    """
    changed: dict[str, dict[str, Any]] = {}
    for each in wanted:
        present = _present(lease, each)
        if present['id'] in changed:
            raise exceptions.CommandError(
                f'Two changes are for the reservation {present["id"]}; give its options once'
            )
        changed[present['id']] = {
            key: value
            for key, value in each.items()
            if key not in ('id', 'resource_type') and _differs(present, key, value)
        }
    return [{'id': key, **fields} for key, fields in changed.items() if fields]


def _differs(present: Mapping[str, Any], key: str, value: Any) -> bool:
    if value == '':
        # A requirement can be removed only from what has it.
        return bool(present.get(key))
    return present.get(key, ...) != value


def _present(lease: Lease, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reservation that a change is for."""
    items: list[dict[str, Any]] = lease.reservations or []
    if 'id' in wanted:
        candidates = [each for each in items if each['id'].startswith(str(wanted['id']))]
    else:
        kind = wanted.get('resource_type')
        candidates = [each for each in items if kind in (None, each['resource_type'])]
    alike = [each for each in candidates if _is_same(each, wanted)]
    candidates = alike if len(candidates) > 1 and alike else candidates
    if len(candidates) == 1:
        return candidates[0]
    if not candidates:
        kind = wanted.get('resource_type')
        what = f'reservation {wanted["id"]}' if 'id' in wanted else nouns.plural(str(kind))
        there = ', '.join(sorted({nouns.plural(str(each['resource_type'])) for each in items}))
        raise exceptions.CommandError(f'Lease {lease.name!r} has no {what}; it has {there}')
    ids = ', '.join(str(each['id']) for each in candidates)
    raise exceptions.CommandError(
        f'Lease {lease.name!r} has several reservations; give the id of one with --reservation '
        f'\'{{"id": "ID", …}}\': {ids}'
    )


def _is_same(present: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return any(
        key in wanted and present.get(key) == wanted[key] for key in _IDENTITIES if key in wanted
    )
