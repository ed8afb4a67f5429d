# SPDX-License-Identifier: Apache-2.0
"""The end of a lease is announced once, whenever the lease is changed."""

from __future__ import annotations

from unittest import mock

from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from tests import base
from tests.functional.manager.harness import Site


class TestWarnings(base.TestCase):
    """A lease is prolonged while a manager announces its end."""

    def warned(self, step: str) -> Lease:
        """Return a lease whose end is being announced."""
        self.site = self.useFixture(Site())
        lease = self.site.create(0, 1000, action='snapshot', until=10)
        self.site.boot(lease)
        self.site.until(399)
        self.site.away_until(400)
        self.site.add_manager().die_after(step)
        return lease

    def warnings(self, lease: Lease) -> int:
        self.site.manager.send()
        return self.site.bus.received(lease).count('before_end_lease')

    def assert_warned_once_more(self, lease: Lease) -> None:
        self.assertEqual(1, self.warnings(lease))
        self.site.until(1399)
        self.assertEqual(1, self.warnings(lease))
        self.site.until(1999)
        self.assertEqual(2, self.warnings(lease))
        self.assertIs(EventState.DONE, self.site.event(lease, EventKind.BEFORE_END).state)
        self.site.until(2100)
        self.assertEqual(('TERMINATED', 2), (self.site.status(lease), self.warnings(lease)))

    def test_the_manager_dies(self) -> None:
        for step in ('begin', 'effect', 'settle'):
            lease = self.warned(step)
            self.site.update(lease, end=1500)
            self.site.update(lease, end=2000)
            self.assert_warned_once_more(lease)

    def test_the_manager_goes_on(self) -> None:
        lease = self.warned('claim')
        self.site.away_until(411)
        site, changes = self.site, iter([1500, 2000])
        make_image = site.cloud.compute.create_image

        def meanwhile(*args: str) -> str:
            for end in changes:
                site.update(lease, end=end)
            return make_image(*args)

        with mock.patch.object(site.cloud.compute, 'create_image', meanwhile):
            site.work()
        self.assert_warned_once_more(lease)
