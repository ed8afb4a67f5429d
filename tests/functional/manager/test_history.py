# SPDX-License-Identifier: Apache-2.0
"""What is kept of the effects of a lease, and shown to its owner."""

from __future__ import annotations

import datetime

from climate.cloud.base import Cloud
from climate.db.administration.purge import purge
from climate.domain.history import History
from climate.domain.history import HistoryStep
from climate.domain.leases import Lease
from climate.plugins.contract import Again
from climate.plugins.contract import Done
from climate.plugins.contract import Outcome
from climate.plugins.contract import Work
from climate.plugins.host.plugin import PhysicalHost
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional.db import plans
from tests.functional.manager.harness import at
from tests.functional.manager.harness import PROJECT
from tests.functional.manager.harness import Site


class Talker(PhysicalHost):
    """Hosts whose effects say what they do, as those of long work would.

    :ivar says: what the effects answer, the first one first; then as usual
    """

    def __init__(self) -> None:
        super().__init__()
        self.says: list[Outcome] = []

    def start(self, work: Work, cloud: Cloud) -> Outcome:
        """Say the next thing, or do it."""
        return self.says.pop(0) if self.says else super().start(work, cloud)

    def check(self, work: Work, cloud: Cloud) -> Outcome:
        """Say the next thing, or look."""
        return self.says.pop(0) if self.says else super().check(work, cloud)


class _Case:
    """A site whose hosts talk."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(Site(database=self.kind))
        self.talker = Talker()
        self.site.plugins['physical:host'] = self.talker

    def history(self, lease: Lease) -> History:
        return self.site.leases.history(lease.id, PROJECT)

    def steps(self, lease: Lease) -> list[tuple[str, str, int]]:
        """Return effect, state and attempts of each step."""
        return [
            (step.effect.value, step.state.value, step.attempts)
            for step in self.history(lease).steps
        ]

    def step(self, lease: Lease, effect: str) -> HistoryStep:
        (found,) = (step for step in self.history(lease).steps if step.effect == effect)
        return found

    def awaited(self, lease: Lease) -> list[str]:
        return [event.kind.value for event in self.history(lease).awaited]


@services.on_each_engine(base.TestCase, 'TestLifeOn')
class _Life(_Case):
    """A lease from its booking to its end."""

    def test_a_life_without_trouble(self) -> None:
        lease = self.site.create(1000, 3600, hosts=2)
        self.assertEqual([], self.steps(lease))
        start = ['before_start_lease', 'prepare', 'before_start_lease', 'start_lease']
        self.assertEqual([*start, 'before_end_lease', 'end_lease'], self.awaited(lease))
        self.site.until(1001)
        self.assertEqual([('prepare', 'done', 1), ('start', 'done', 1)], self.steps(lease))
        start = self.step(lease, 'start')
        self.assert_has(
            start, reservation_id=lease.reservations[0].id, resource_type='physical:host'
        )
        self.assertEqual((at(1000), None), (start.first_at, start.error))
        self.site.until(4000)
        found = [(effect, times) for effect, _, times in self.steps(lease)]
        self.assertEqual([('prepare', 1), ('start', 1), ('before_end', 1), ('end', 1)], found)
        self.assertEqual([], self.awaited(lease))

    def test_what_fails_and_works_later_is_one_step(self) -> None:
        lease = self.site.create(100, 3600, until=99)
        self.site.cloud.reachable = False
        self.site.until(120)
        (_, start) = self.history(lease).steps
        self.assertEqual(('failed', 5), (start.state, start.attempts))
        self.assertIn('cannot be reached', str(start.error))
        (first, *_) = self.history(lease).awaited
        self.assertEqual(('start_lease', 5), (first.kind, first.attempts))
        self.assertIn('cannot be reached', str(first.error))
        self.site.cloud.reachable = True
        self.site.until(200)
        (_, start) = self.history(lease).steps
        self.assertEqual(('done', 6, at(100)), (start.state, start.attempts, start.first_at))
        self.assertIn('cannot be reached', str(start.error))

    def test_what_was_undone(self) -> None:
        lease = self.site.create(100, 3600, until=99)
        self.site.cloud.fail('compute.add_host', error='permanent')
        self.site.until(100)
        self.assertEqual(
            [('prepare', 'undone', 1), ('start', 'undone', 1), ('undo', 'done', 1)],
            self.steps(lease),
        )
        self.assertIn('as configured', str(self.step(lease, 'start').error))

    def test_a_change_that_is_undone(self) -> None:
        lease = self.site.create(0, 3600, until=10)
        self.site.cloud.fail('compute.add_host', error='permanent')
        self.site.update(lease, hosts=2)
        self.site.work()
        found = [(effect, state) for effect, state, _ in self.steps(lease)]
        self.assertEqual([('start', 'done'), ('update', 'undone'), ('undo', 'done')], found)
        self.site.cloud.heal()
        self.site.update(lease, hosts=2)
        self.site.work()
        self.assertEqual(('update', 'done', 1), self.steps(lease)[-1])

    def test_deleted_before_the_start_it_is_undone(self) -> None:
        lease = self.site.create(100, 3600, until=50)
        self.site.cloud.fail('compute.delete_aggregate', times=1)
        self.site.delete(lease)
        self.site.work()
        self.assertEqual([('prepare', 'done', 1), ('undo', 'failed', 1)], self.steps(lease))
        self.assertEqual(['delete_lease'], self.awaited(lease))

    def test_it_goes_with_its_lease(self) -> None:
        lease = self.site.create(0, 100, until=200)
        self.assertEqual(3, fetch(self.site.store, lambda tx: len(tx.steps.of_lease(lease.id))))
        self.assertEqual(1, purge(self.site.store, at(300)))
        self.assertEqual([], fetch(self.site.store, lambda tx: tx.steps.of_lease(lease.id)))


class TestWords(_Case, base.TestCase):
    """What effects say."""

    def waits(self, why: str, *steps: str) -> Again:
        return Again(after=datetime.timedelta(seconds=5), why=why, steps=steps)

    def test_each_line_is_kept_once_and_what_is_awaited_is_reported(self) -> None:
        self.talker.says = [
            self.waits('the image is made', 'the server was stopped'),
            self.waits('the image is written', 'the server was stopped', 'image 7 was made'),
        ]
        lease = self.site.create(0, 3600, until=6)
        step = self.step(lease, 'start')
        self.assertEqual(('waiting', 2), (step.state, step.attempts))
        self.assertEqual('the image is written', step.waiting_for)
        found = [(line.at, line.text) for line in step.lines]
        self.assertEqual([(at(0), 'the server was stopped'), (at(5), 'image 7 was made')], found)
        self.site.until(20)
        step = self.step(lease, 'start')
        self.assertEqual(('done', 3, None), (step.state, step.attempts, step.waiting_for))
        self.assertEqual(2, len(step.lines))

    def test_what_goes_on_at_once_is_the_same_step(self) -> None:
        now = datetime.timedelta(0)
        self.talker.says = [Again(after=now, steps=(text,)) for text in 'abc']
        (step,) = self.history(self.site.create(0, 3600, until=1)).steps
        self.assertEqual((4, 'done'), (step.attempts, step.state))
        self.assertEqual(['a', 'b', 'c'], [line.text for line in step.lines])

    def test_what_waits_for_too_long_has_failed(self) -> None:
        self.talker.says = [self.waits('the image is made') for _ in range(40)]
        step = self.step(self.site.create(0, 3600, until=200), 'start')
        self.assert_has(step, state='undone', error='it took too long: the image is made')

    def test_secrets_are_not_kept(self) -> None:
        said = "refused: {'adminPass': 'xyzzy', 'auth_token': 'gAAAB'}"
        self.talker.says = [self.waits(said, said)]
        lease = self.site.create(0, 3600, until=1)
        step, event = self.step(lease, 'start'), self.history(lease).awaited[0]
        for text in (step.waiting_for, step.lines[0].text, event.error):
            self.assertNotIn('xyzzy', str(text))
            self.assertNotIn('gAAAB', str(text))
            self.assertIn('refused', str(text))

    def test_it_does_not_grow_without_end(self) -> None:
        many = [f'line {number}' + 'x' * 5000 for number in range(200)]
        self.talker.says = [self.waits('y' * 5000, *many) for _ in range(3)]
        step = self.step(self.site.create(0, 3600, until=11), 'start')
        self.assertEqual((3, 50), (step.attempts, len(step.lines)))
        self.assertTrue(step.lines[-1].text.startswith('line 199x'))
        self.assertLess(max(len(line.text) for line in step.lines), 1001)
        self.assertLess(len(str(step.waiting_for)), 1001)


class TestChecks(_Case, base.TestCase):
    """Checks come for as long as a lease lasts."""

    def test_what_is_as_it_should_be_leaves_nothing(self) -> None:
        lease = self.site.create(0, 10000, until=9000)
        self.assertEqual(['start'], [effect for effect, _, _ in self.steps(lease)])

    def test_all_checks_are_one_step(self) -> None:
        lease = self.site.create(0, 100000, until=10)
        self.talker.says = [Done(repaired=('host compute-1 was missing',)) for _ in range(70)]
        self.site.until(80 * 900)
        step = self.step(lease, 'check')
        self.assertEqual(('done', 70, 50), (step.state, step.attempts, len(step.lines)))
        self.assertEqual('repaired: host compute-1 was missing', step.lines[0].text)

    def test_a_repair_adds_to_the_same(self) -> None:
        lease = self.site.create(0, 100000, until=10)
        for _ in range(3):
            self.talker.says = [Done(repaired=('something',))]
            list(self.site.repair().run())
        self.assertEqual(3, self.step(lease, 'check').attempts)

    def test_what_failed_is_well_again(self) -> None:
        lease = self.site.create(0, 100000, until=10)
        self.site.cloud.reachable = False
        self.site.until(2000)
        self.assertEqual('failed', self.step(lease, 'check').state)
        self.site.cloud.reachable = True
        self.site.until(4000)
        step = self.step(lease, 'check')
        self.assertEqual('done', step.state)
        self.assertIn('cannot be reached', str(step.error))
        attempts = step.attempts
        self.site.until(9000)
        self.assertEqual(attempts, self.step(lease, 'check').attempts)


class TestMissed(_Case, base.TestCase):
    """The whole period passed while no manager ran."""

    def test_it_is_in_the_history(self) -> None:
        lease = self.site.create(100, 200)
        self.site.away_until(300)
        self.site.work()
        step = self.step(lease, 'start')
        self.assertEqual((None, 'failed'), (step.reservation_id, step.state))
        self.assertIn('before it could start', str(step.error))


class TestCost(_Case, base.TestCase):
    """How many statements it takes to keep it."""

    def count(self, lease: Lease) -> int:
        """Return how many statements about steps the next event takes."""
        self.assertIn(self.site.status(lease), ('PENDING', 'STARTING', 'ACTIVE'))
        with plans.captured(self.site.store.engine) as statements:
            while self.site.manager.look():
                continue
        return sum(' steps' in statement.text for statement in statements)

    def test_one_statement_where_all_goes_well_and_two_where_not(self) -> None:
        lease = self.site.create(0, 100000, hosts=2)
        self.assertEqual(1, self.count(lease))
        self.site.away_until(1000)
        self.assertEqual(0, self.count(lease))
        self.site.cloud.reachable = False
        other = self.site.create(1000, 2000)
        self.assertEqual(1, self.count(other))
        self.site.away_until(1002)
        self.assertEqual(2, self.count(other))
