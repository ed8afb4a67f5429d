# SPDX-License-Identifier: Apache-2.0
"""The end of a lease is announced once, whenever the lease is changed."""

from __future__ import annotations

from unittest import mock

from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from tests import base
from tests.functional.manager.harness import Office


class TestWarnings(base.TestCase):
    """A lease is prolonged while a manager announces its end."""

    def warned(self, step: str) -> Lease:
        """Return a lease whose end is being announced."""
        self.office = self.useFixture(Office())
        lease = self.office.create(0, 1000, action='snapshot', until=10)
        self.office.boot(lease)
        self.office.until(399)
        self.office.away_until(400)
        self.office.hire().die_after(step)
        return lease

    def warnings(self, lease: Lease) -> int:
        self.office.manager.send()
        return self.office.bus.received(lease).count('before_end_lease')

    def assert_warned_once_more(self, lease: Lease) -> None:
        self.assertEqual(1, self.warnings(lease))
        self.office.until(1399)
        self.assertEqual(1, self.warnings(lease))
        self.office.until(1999)
        self.assertEqual(2, self.warnings(lease))
        self.assertIs(EventState.DONE, self.office.event(lease, EventKind.BEFORE_END).state)
        self.office.until(2100)
        self.assertEqual(('TERMINATED', 2), (self.office.status(lease), self.warnings(lease)))

    def test_the_manager_dies(self) -> None:
        for step in ('begin', 'effect', 'settle'):
            lease = self.warned(step)
            self.office.update(lease, end=1500)
            self.office.update(lease, end=2000)
            self.assert_warned_once_more(lease)

    def test_the_manager_goes_on(self) -> None:
        lease = self.warned('claim')
        self.office.away_until(411)
        office, changes = self.office, iter([1500, 2000])
        make_image = office.cloud.compute.create_image

        def meanwhile(*args: str) -> str:
            for end in changes:
                office.update(lease, end=end)
            return make_image(*args)

        with mock.patch.object(office.cloud.compute, 'create_image', meanwhile):
            office.work()
        self.assert_warned_once_more(lease)
