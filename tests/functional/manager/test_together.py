# SPDX-License-Identifier: Apache-2.0

"""A lease of several reservations is one decision, and is made real as one."""

from __future__ import annotations

from typing import Any

from climate import exceptions
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from tests import base
from tests import drafts
from tests.functional.manager.harness import at
from tests.functional.manager.harness import CALLER
from tests.functional.manager.harness import Site

HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'before_end': ''}
HOUR = 3600


class TestTogether(base.TestCase):
    """Two and more reservations of hosts in one lease."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(hosts=3))

    def create(self, *wanted: dict[str, Any], start: float = HOUR) -> Lease:
        """Book several reservations in one lease of an hour."""
        draft = drafts.lease(
            at(start), at(start + HOUR), *({**HOST, **item} for item in wanted), name='several'
        )
        return self.site.leases.create(CALLER, draft)

    def only(self, host: str) -> dict[str, Any]:
        """Return the wish for one certain host."""
        return {'hypervisor_properties': f'["==", "$hypervisor_hostname", "{host}"]'}

    def names(self, lease: Lease) -> list[str]:
        """Return the hosts of each reservation, in the order of the lease."""
        taken = {item.reservation_id: item.resource_name for item in self.site.allocations(lease)}
        return [taken[item.id] for item in lease.reservations]

    def test_what_one_could_have_is_left_to_the_one_that_needs_it(self) -> None:
        for _ in range(10):
            lease = self.create({}, {}, self.only('compute-1'))
            self.assertEqual('compute-1', self.names(lease)[2])
            self.assertEqual(3, len(set(self.names(lease))))
            self.site.delete(lease)

    def test_a_refusal_says_which_is_not_to_be_had(self) -> None:
        refused = self.assertRaises(
            exceptions.NotEnoughResources, self.create, {}, self.only('compute-9')
        )
        self.assertEqual((1, 'physical:host'), (refused.place, refused.resource_type))
        found = refused.message
        self.assertEqual('Not enough hosts available for reservations[1] (physical:host)', found)
        self.assertEqual(0, refused.matched)
        alone = self.assertRaises(
            exceptions.NotEnoughResources, self.create, self.only('compute-9')
        )
        self.assertEqual('Not enough hosts available', alone.message)
        with self.site.store.reading() as tx:
            self.assertFalse(any(tx.allocations.in_use(number) for number in (1, 2, 3)))

    def test_started_in_order_and_ended_in_reverse(self) -> None:
        lease = self.create({}, {}, {})
        names = self.names(lease)
        self.site.cloud.keep_journal()
        self.assertEqual('ACTIVE', self.site.status_at(HOUR + 1, lease))
        began = [call.arguments[1] for call in self.moves()]
        self.assertEqual(names, began)
        self.assertEqual('TERMINATED', self.site.status_at(3 * HOUR, lease))
        back = [call.arguments[1] for call in self.moves()][len(began) :]
        self.assertEqual(list(reversed(names)), back)

    def moves(self) -> list[Any]:
        """Return the calls that moved hosts into aggregates."""
        return [call for call in self.site.cloud.journal() if call.verb == 'compute.add_host']

    def test_prepared_wholly_or_not_at_all(self) -> None:
        lease = self.create({}, {})
        before = self.site.places()
        # The aggregate is made, and said to be refused for good.
        self.site.cloud.fail('compute.create_aggregate', times=1, when='after', error='permanent')
        self.assertEqual('PENDING', self.site.status_at(HOUR - 1, lease))
        self.assertEqual('ERROR', self.site.event(lease, EventKind.PREPARE).state.value)
        self.assertEqual('DONE', self.site.event(lease, EventKind.UNDO).state.value)
        self.assertEqual({'freepool'}, {item.name for item in self.site.cloud.aggregates()})
        self.assertEqual(before, self.site.places())
        self.assertEqual(2, len(self.site.allocations(lease)))
        self.assertEqual('ACTIVE', self.site.status_at(HOUR + 1, lease))
