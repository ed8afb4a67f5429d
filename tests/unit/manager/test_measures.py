# SPDX-License-Identifier: Apache-2.0

"""What managers record of the life of a lease."""

from __future__ import annotations

import datetime

from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.payloads import EffectPayload
from climate.domain.payloads import EndPayload
from climate.leases.jobs import EffectResult
from climate.leases.jobs import Report
from climate.manager.claims import measures
from climate.metrics import catalogue
from climate.plugins.contract import Again
from climate.testing.deployment import Deployment
from climate.testing.deployment import NOW
from tests import base
from tests import metrics


class TestEvents(base.TestCase):
    """Leases that start, wait, fail and end."""

    def setUp(self) -> None:
        super().setUp()
        self.recorded = self.useFixture(metrics.RecordedMetrics())

    def outcomes(self, kind: str) -> list[str]:
        """Return the outcomes of the events of a kind."""
        return [outcome for name, outcome in self.recorded.labels(catalogue.EVENTS) if name == kind]

    def test_a_life(self) -> None:
        for alone in (False, True):
            deployment = self.useFixture(Deployment(alone=alone))
            self.recorded.found.clear()
            lease = deployment.create(60, 120)
            deployment.away_until(63)
            deployment.work()
            deployment.away_until(125)
            deployment.work()
            self.assertEqual('TERMINATED', deployment.status(lease))
            self.assertEqual(['done'], self.outcomes('start_lease'))
            self.assertEqual(['done'], self.outcomes('end_lease'))
            late = self.recorded.of(catalogue.LATENESS)
            self.assertEqual([('start_lease', 3.0), ('end_lease', 5.0)], late)
            self.assertLess(0, sum(number for (number,) in self.recorded.of(catalogue.CLAIMS)))

    def test_failures(self) -> None:
        for error, outcome in (('transient', 'retried'), ('permanent', 'failed')):
            deployment = self.useFixture(Deployment())
            self.recorded.found.clear()
            deployment.cloud.fail('compute.add_host', None, error=error)
            deployment.create(0, 120)
            deployment.work()
            self.assertIn(outcome, self.outcomes('start_lease'))
            self.assertEqual([], self.recorded.of(catalogue.LATENESS))


class TestWaits(base.TestCase):
    """An event that waits for the cloud, until its deadline and beyond it."""

    def test_waits(self) -> None:
        deadline, second = datetime.timedelta(seconds=60), datetime.timedelta(seconds=1)
        report = Report(steps=(EffectResult(reservation_id='r', outcome=Again(after=second)),))
        for kind, tried, outcome in (
            (EventKind.START, 59, 'waiting'),
            (EventKind.START, 60, 'failed'),
            (EventKind.END, 60, 'waiting'),
        ):
            payload = EffectPayload(tried=tried * second)
            if kind is EventKind.END:
                payload = EndPayload(tried=tried * second)
            event = Event(id='e', lease_id='l', kind=kind, time=NOW, due=NOW, payload=payload)
            self.assertEqual(outcome, measures.outcome(event, report, deadline), kind)
