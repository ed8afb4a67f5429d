# SPDX-License-Identifier: Apache-2.0
"""What is reported, shown and sent about the readiness of a lease's resources."""

from __future__ import annotations

from typing import Any

from climate import exceptions
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from tests.functional.manager.harness import PROJECT
from tests.functional.manager.harness import SiteCase


class TestReadiness(SiteCase):
    """Whoever gets resources ready says how far that is."""

    def say(self, lease: Lease, **facts: Any) -> None:
        said = Readiness(at=self.site.clock.now(), by='climate-power', **facts)
        self.site.leases.say(lease.id, said)

    def test_all_of_it_is_ready(self) -> None:
        lease = self.site.create(100, 3600)
        self.say(lease, waiting=('compute-1',))
        self.site.work()
        self.assertEqual(['create'], self.site.bus.received())
        for _ in range(2):
            self.say(lease, ready=('compute-1',))
        self.site.work()
        self.assertEqual(['create', 'ready'], self.site.bus.received())
        self.assertEqual(['compute-1'], self.site.bus.last('lease.ready')['ready'])
        self.site.until(101)
        self.assertNotIn('not_ready', self.site.bus.received())

    def test_something_is_not_ready_at_the_start(self) -> None:
        lease = self.site.create(100, 3600)
        self.say(lease, ready=('compute-2',), waiting=('compute-1',), detail='it boots')
        self.site.until(101)
        self.assertEqual(['start_lease', 'not_ready'], self.site.bus.received()[-2:])
        notification = self.site.bus.last('lease.not_ready')
        self.assertEqual(
            (['compute-1'], 'it boots'), (notification['waiting'], notification['detail'])
        )
        whole = [
            step
            for step in self.site.leases.history(lease.id, PROJECT).steps
            if step.reservation_id is None
        ]
        found = [line.text for step in whole for line in step.lines]
        self.assertEqual(['climate-power says that compute-1 is not ready yet'], found)
        self.say(lease, ready=('compute-1', 'compute-2'))
        self.site.work()
        self.assertEqual('ready', self.site.bus.received()[-1])

    def test_what_is_over_is_not_waited_for(self) -> None:
        lease = self.site.create(0, 100, until=200)
        self.assertRaises(exceptions.InvalidState, self.say, lease, ready=('compute-1',))

    def test_it_outlives_what_managers_write(self) -> None:
        lease = self.site.create(100, 3600, notices=('error',))
        self.say(lease, ready=('compute-1',))
        self.site.until(200)
        now = self.site.now(lease)
        self.assertEqual(('error',), now.notices)
        self.assertEqual(('compute-1',), now.readiness.ready)
        self.assertEqual('ACTIVE', now.status)
