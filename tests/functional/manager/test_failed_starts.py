# SPDX-License-Identifier: Apache-2.0

"""What the owner and the operator learn of a start that goes on failing."""

from __future__ import annotations

import logging
from unittest import mock

import fixtures

from climate import exceptions
from climate.domain.events import EventKind
from climate.domain.lifecycles import EventState
from climate.plugins.host.plugin import PhysicalHost
from tests import base
from tests.functional.manager.harness import Site
from tests.functional.manager.harness import SiteCase

AWAY = exceptions.Transient('Nova is away')


class TestFailedStart(SiteCase):
    """Nova is away for the whole of a lease."""

    def setUp(self) -> None:
        super().setUp()
        self.enterContext(mock.patch.object(PhysicalHost, 'start', side_effect=AWAY))

    def test_it_has_failed_when_the_lease_ends(self) -> None:
        # The lease is over long before the start would be given up.
        lease = self.site.create(10, 60)
        self.assertEqual('STARTING', self.site.status_at(59, lease))
        self.assertNotIn('error', self.site.bus.received(lease))
        self.site.until(61)
        self.assertIs(EventState.ERROR, self.site.event(lease, EventKind.START).state)
        self.assertEqual(['error', 'end_lease'], self.site.bus.received(lease)[-2:])
        notification = self.site.bus.last('lease.event.error')
        self.assertEqual('start_lease', notification['event_type'])
        self.assertIn('Nova is away', notification['reason'])

    def test_it_is_missed_when_a_manager_comes_at_the_very_end(self) -> None:
        lease = self.site.create(10, 60)
        self.site.away_until(60)
        self.site.work()
        start = self.site.event(lease, EventKind.START)
        self.assertIs(EventState.ERROR, start.state)
        self.assertIn('had ended before it could start', start.error or '')
        self.assertEqual(0, PhysicalHost.start.call_count)

    def test_it_is_reported_then_though_the_end_fails_too(self) -> None:
        lease = self.site.create(10, 60)
        with mock.patch.object(PhysicalHost, 'undo', side_effect=AWAY):
            self.site.until(61)
            self.assertEqual('error', self.site.bus.received(lease)[-1])
        self.assertEqual('TERMINATED', self.site.status_at(600, lease))
        self.assertIs(EventState.ERROR, self.site.event(lease, EventKind.START).state)

    def test_it_has_failed_when_the_lease_is_deleted(self) -> None:
        lease = self.site.create(10, 600, until=20)
        with mock.patch.object(PhysicalHost, 'undo', side_effect=AWAY):
            self.site.delete(lease)
            self.site.work()
        start = self.site.event(lease, EventKind.START)
        self.assertEqual((EventState.ERROR, 'Nova is away'), (start.state, start.error))
        self.assertIs(EventState.DONE, self.site.event(lease, EventKind.END).state)


class TestLog(base.TestCase):
    """What is stuck does not fill the log."""

    def setUp(self) -> None:
        super().setUp()
        self.logged = self.useFixture(fixtures.FakeLogger('climate', level=logging.WARNING))

    def lines(self, text: str) -> list[str]:
        """Return the lines of the log that have *text*."""
        return [line for line in self.logged.output.splitlines() if text in line]

    def test_ever_more_rarely(self) -> None:
        site = self.useFixture(Site())
        lease = site.create(10, 60, until=11)
        with mock.patch.object(PhysicalHost, 'end', side_effect=AWAY):
            site.until(2000)
        attempts = site.event(lease, EventKind.END).attempts
        self.assertGreater(attempts, 64)
        counts = [int(line.split('attempt ')[1].split(')')[0]) for line in self.lines('failed')]
        given_up = len(self.lines('for good (attempt'))
        powers = [2**power for power in range(attempts.bit_length())]
        # And once when its owner is notified.
        self.assertLessEqual(len(counts), len(powers) + 1)
        self.assertLessEqual(set(powers), set(counts))
        self.assertLess(given_up, 6)

    def test_a_defect_of_a_plugin(self) -> None:
        site = self.useFixture(Site())
        site.create(10, 60, until=11)
        with mock.patch.object(PhysicalHost, 'end', side_effect=KeyError('x')):
            site.until(1000)
        self.assertLess(len(self.lines('end_lease raised')), 8)
