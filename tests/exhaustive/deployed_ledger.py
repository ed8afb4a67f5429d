# SPDX-License-Identifier: Apache-2.0

"""The ledger of an installation, of what it sends: to the bus, a webhook, a usage service.

They are compared with the rows of the database. No code of the service is used.
"""

from __future__ import annotations

import collections
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from tests import services
from tests.usage_service import Call

ANNOUNCED = {'ACTIVE': 'lease.event.start_lease', 'TERMINATED': 'lease.event.end_lease'}
"""What announces that a lease has a status."""

Notifications = Mapping[str, Collection[str]]
"""The types of notifications, by lease."""


def expected(leases: Iterable[str], seen: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Return the notifications that leases which are all deleted must have.

    :param seen: each status in which a lease was seen, with its id
    """
    found = {lease_id: {'lease.create', 'lease.delete'} for lease_id in leases}
    for lease_id, status in seen:
        if status in ANNOUNCED:
            found[lease_id].add(ANNOUNCED[status])
    return found


def lost(wanted: Notifications, notified: Notifications, where: str) -> list[str]:
    """Return the events that were not received."""
    return [
        f'{lease_id}: no {kind} {where}'
        for lease_id, kinds in wanted.items()
        for kind in sorted(set(kinds) - set(notified.get(lease_id, ())))
    ]


def on_the_bus(topic: str) -> dict[str, set[str]]:
    """Take the notifications from the bus; return their types by lease."""
    found: dict[str, set[str]] = collections.defaultdict(set)
    for sent in services.notifications(topic):
        found[sent['payload'].get('lease_id', '')].add(sent['event_type'])
    return found


def posted(events: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """Return the types of events that were posted to a webhook, by lease."""
    found: dict[str, set[str]] = collections.defaultdict(set)
    for event in events:
        found[event['data'].get('lease_id', '')].add(event['type'])
    return found


def miscounted(calls: Iterable[Call], leases: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with the calls of a service that allows everything.

    Each question has one outcome, and each lease one end. Calls may be repeated.

    :param leases: the ids of all leases, which are all over
    """
    ledger = _UsageLedger()
    for call in calls:
        ledger.enter(call)
    for number, lease_id in ledger.asked.items():
        outcomes = sorted(ledger.outcomes[number])
        if len(outcomes) != 1:
            yield f'{lease_id}: question {number} has the outcomes {outcomes}'
    billed = ledger.billed()
    if sorted(billed) != sorted(leases):
        difference = sorted(set(billed) ^ set(leases))
        yield f'{len(billed)} leases were billed, {len(leases)} exist: {difference}'
    for lease_id in leases:
        if len(ledger.ends[lease_id]) != 1:
            yield f'{lease_id}: {len(ledger.ends[lease_id])} ends were charged'


class _UsageLedger:
    """What a usage service was asked and notified of.

    :ivar asked: the lease of each question, by its number
    :ivar outcomes: of each question
    :ivar ends: the numbers of the ends of each lease
    """

    def __init__(self) -> None:
        self.asked: dict[str, str] = {}
        self._creations: set[str] = set()
        self.outcomes: dict[str, set[str]] = collections.defaultdict(set)
        self.ends: dict[str, set[str]] = collections.defaultdict(set)

    def enter(self, call: Call) -> None:
        """Enter a call."""
        number, lease_id = call.body['id'], call.body['lease']['id']
        if call.name.startswith('check-'):
            self.asked[number] = lease_id
            if call.name == 'check-create':
                self._creations.add(number)
        elif call.name == 'on-end':
            self.ends[lease_id].add(number)
        # What is undone was booked before.
        elif not call.body.get('undone'):
            self.outcomes[number].add(call.name)

    def billed(self) -> list[str]:
        """Return the leases that were booked, once for each question."""
        return [
            self.asked[number] for number in self._creations if 'commit' in self.outcomes[number]
        ]
