# SPDX-License-Identifier: Apache-2.0

"""A whole starts after its parts, and its parts end after it."""

from __future__ import annotations

import datetime
from typing import Any

from climate import exceptions
from climate.clock import ManualClock
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.leases import schedule
from climate.leases.jobs import Job
from climate.leases.jobs import Report
from climate.manager.running.perform import perform
from climate.plugins.contract import Again
from climate.plugins.contract import Done
from climate.plugins.contract import Work
from climate.simulator import SimulatedCloud
from tests import base
from tests.functional.manager.harness import NOW

SECOND = datetime.timedelta(seconds=1)
LATER = Again(after=SECOND, why='under way')
NAMES = ('part', 'whole', 'other')


class _Plugin:
    """Returns what it was given and records what it was asked for."""

    def __init__(self, outcomes: dict[str, Any]) -> None:
        self._outcomes = outcomes
        self.asked: list[str] = []
        self.used_by: frozenset[str] = frozenset()

    def _do(self, work: Work, _cloud: Any) -> Any:
        self.asked.append(work.reservation.id)
        outcome = self._outcomes.get(work.reservation.id, Done())
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    prepare = start = check = before_end = end = undo = _do


class TestOrder(base.TestCase):
    """Which effects are run if another is not done with."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = self.closing(SimulatedCloud(':memory:', clock=ManualClock(NOW)))

    def run_effects(
        self, kind: EventKind, *used_by: str, **outcomes: Any
    ) -> tuple[list[str], Report]:
        """Run them for a part, its whole and another one; return whose were run."""
        of = {'lease_id': 'l', 'resource_type': 't', 'request': {}}
        wholes = {'part': 'whole'}
        reservations = tuple(
            Reservation(id=name, position=place, part_of=wholes.get(name), **of)
            for place, name in enumerate(NAMES)
        )
        ids = {'id': 'l', 'name': 'l', 'user_id': 'alice', 'project_id': 'blue'}
        facts = {'status': LeaseStatus.ACTIVE, 'trust_id': 'the-trust'}
        period = Period(start=NOW, end=NOW + SECOND)
        lease = Lease(period=period, reservations=reservations, **ids, **facts)
        works = {
            item.id: Work(
                lease=lease, reservation=item, allocations=(), resources=(), now=NOW, since=NOW
            )
            for item in reservations
        }
        whole = Work(
            lease=lease,
            reservation=reservations[1],
            allocations=(),
            resources=(),
            now=NOW,
            since=NOW,
            parts=(works['part'],),
        )
        ordered = (works['part'], whole, works['other'])
        if kind in (EventKind.END, EventKind.UNDO, EventKind.DELETE):
            ordered = tuple(reversed(ordered))
        plugin = _Plugin(outcomes)
        plugin.used_by = frozenset(used_by)
        self.cloud.keep_journal()
        job = Job(lease=lease, event=schedule.new_event('l', kind, NOW), works=ordered)
        plugins: dict[str, Any] = {'t': plugin}
        return plugin.asked, perform(job, plugins, self.cloud)

    def test_a_whole_waits_until_its_parts_are_there(self) -> None:
        asked, report = self.run_effects(EventKind.START, part=LATER)
        self.assertEqual(['part', 'other'], asked)
        self.assertEqual(SECOND, report.again)

    def test_nothing_comes_after_a_part_that_fails(self) -> None:
        asked, report = self.run_effects(EventKind.START, part=exceptions.Transient('no'))
        self.assertEqual(['part'], asked)
        self.assertIsNotNone(report.error)

    def test_parts_stay_until_their_whole_has_ended(self) -> None:
        for kind in (EventKind.END, EventKind.UNDO, EventKind.DELETE):
            for outcome in (LATER, exceptions.Transient('no'), exceptions.Permanent('never')):
                asked, _ = self.run_effects(kind, whole=outcome)
                self.assertEqual(['other', 'whole'], asked)

    def test_what_is_no_part_of_it_does_not_wait(self) -> None:
        asked, _ = self.run_effects(EventKind.END, other=exceptions.Permanent('never'))
        self.assertEqual(['other', 'whole', 'part'], asked)

    def test_what_is_used_waits_for_the_end_of_what_stands_behind_it(self) -> None:
        for kind in (EventKind.END, EventKind.UNDO, EventKind.DELETE):
            for outcome in (LATER, exceptions.Permanent('never')):
                self.assertEqual(['other'], self.run_effects(kind, 't', other=outcome)[0])
            asked, _ = self.run_effects(kind, 't', whole=LATER)
            self.assertEqual(['other', 'whole'], asked)
            self.assertEqual(['other', 'whole', 'part'], self.run_effects(kind, 't')[0])
            self.assertEqual(3, len(self.run_effects(kind, 'x', other=LATER)[0]))
        self.assertEqual(3, len(self.run_effects(EventKind.START, 't')[0]))

    def test_the_trust_goes_when_all_are_done(self) -> None:
        self.run_effects(EventKind.END)
        self.assertEqual(1, self.cloud.calls('identity.delete_trust'))

    def test_the_trust_stays_as_long_as_one_is_not_done(self) -> None:
        for name in NAMES:
            for outcome in (LATER, exceptions.Permanent('never')):
                self.run_effects(EventKind.END, **{name: outcome})
        self.assertEqual(0, self.cloud.calls('identity.delete_trust'))

    def test_the_trust_stays_while_the_lease_lives(self) -> None:
        for kind in (EventKind.PREPARE, EventKind.START, EventKind.CHECK, EventKind.BEFORE_END):
            self.run_effects(kind)
        self.assertEqual(0, self.cloud.calls('identity.delete_trust'))

    def test_a_trust_that_cannot_be_deleted_is_tried_again(self) -> None:
        self.cloud.fail('identity.delete_trust')
        _, report = self.run_effects(EventKind.DELETE)
        self.assertIsNotNone(report.error)
        _, report = self.run_effects(EventKind.DELETE)
        self.assertIsNone(report.error)
