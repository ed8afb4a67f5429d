# SPDX-License-Identifier: Apache-2.0

"""Reads the rows of a deployment in a form in which those of another one are the same."""

from __future__ import annotations

import collections
import json
import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from climate.db.schema import tables
from climate.testing.deployment import Deployment

_UUID = re.compile(r'[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}')
# A batch raises the generation of a resource once for all of its leases, and rows of
# different leases are written in any order.
_IGNORED = {'generation', 'seq', 'claim_until'}
_NUMBERED = {'steps', 'allocations', 'properties'}
# The second at which a trust expires is drawn, so that a lost one can be recognized. Keys for
# sorting change the digits of ids in names.
_DRAWN = {'trusts': {'expires_at'}, 'resources': {'sort_name'}}

Story = Callable[[Deployment], Iterator[None]]


def picture(deployment: Deployment) -> dict[str, list[str]]:
    """Return all rows by table, in some order, with names in the place of ids.

    Also the notifications about each lease, in order, and the place of each host. Leases
    need different names.
    """
    with deployment.store.engine.connect() as connection:
        found = {
            table.name: [dict(row._mapping) for row in connection.execute(sa.select(table))]
            for table in tables.METADATA.sorted_tables
        }
    names = dict(_names(found))
    result = {
        table: sorted(_named([_plain(table, row) for row in its], names))
        for table, its in found.items()
    }
    notified = collections.defaultdict(list)
    for message in deployment.bus.taken:
        notified[message.payload['lease_id']].append(message.event_type)
    places = [
        [host, sorted(names.get(one, one) for one in where)]
        for host, where in deployment.places().items()
    ]
    return {
        **result,
        'notifications': sorted(_named(notified.items(), names)),
        'hosts': sorted(_named(places, names)),
    }


def _named(values: Iterable[Any], names: dict[str, str]) -> list[str]:
    """Return values as text, with names in the place of ids."""
    texts = (json.dumps(value, default=str) for value in values)
    named = (_UUID.sub(lambda match: names.get(match.group(), 'some id'), text) for text in texts)
    # Sorted by name: ids may be keys, too.
    return [json.dumps(json.loads(text), sort_keys=True) for text in named]


def _plain(table: str, row: dict[str, Any]) -> dict[str, Any]:
    ignored = _IGNORED | ({'id'} if table in _NUMBERED else set()) | _DRAWN.get(table, set())
    return {key: value for key, value in row.items() if key not in ignored}


def _names(found: dict[str, list[dict[str, Any]]]) -> Iterator[tuple[str, str]]:
    """Yield names for the ids of leases, of their reservations and of their events."""
    leases = {row['id']: row['name'] for row in found['leases']}
    yield from leases.items()
    for row in found['reservations']:
        yield row['id'], f'{leases[row["lease_id"]]}/{row["position"]}'
    counted: collections.Counter[str] = collections.Counter()
    events = sorted(found['events'], key=lambda row: (row['time'], row['created_at'], row['due']))
    for row in events:
        name = f'{leases[row["lease_id"]]}/{row["kind"]}'
        counted[name] += 1
        yield row['id'], f'{name}/{counted[name]}'


def pictures(deployment: Deployment, story: Story) -> Iterator[dict[str, list[str]]]:
    """Yield the picture after each part of a story."""
    # Which of several hosts is chosen would otherwise depend on what was read when.
    timelines: Any = deployment.store.timelines
    timelines.latest = lambda _resource_type: []
    for _ in story(deployment):
        yield picture(deployment)
