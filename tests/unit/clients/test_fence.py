# SPDX-License-Identifier: Apache-2.0

"""What is done under a claim that is not sure any more does not reach the cloud."""

from __future__ import annotations

import datetime
import inspect
import typing
from collections.abc import Iterator

from climate import exceptions
from climate.clock import ManualClock
from climate.clock import SystemClock
from climate.cloud import deletions
from climate.cloud import fence
from climate.cloud import read_only
from climate.cloud.base import Cloud
from climate.simulator import SimulatedCloud
from climate.simulator import VERBS
from tests import base

NOW = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)


def protocols() -> Iterator[tuple[str, type]]:
    """Yield the services of a cloud, as the protocol of clouds names them."""
    for name, getter in vars(Cloud).items():
        if isinstance(getter, property):
            yield name, typing.get_type_hints(getter.fget)['return']


def verbs() -> Iterator[str]:
    """Yield every verb of every protocol, such as ``compute.find_server``."""
    for name, protocol in protocols():
        for verb, _ in inspect.getmembers(protocol, inspect.isfunction):
            if not verb.startswith('_'):
                yield f'{name}.{verb}'


class Recorder:
    """A cloud that only notes which verbs reached it, and in whose name."""

    def __init__(self, reached: list[str], whose: str = '') -> None:
        self._reached = reached
        self._whose = whose

    def acting_for(self, trust_id: str) -> Recorder:
        return Recorder(self._reached, f'{self._whose}{trust_id}:')

    def of_caller(self, token: str) -> Recorder:
        return Recorder(self._reached, f'{self._whose}{token}:')

    def as_service(self) -> Recorder:
        return Recorder(self._reached, f'{self._whose}service:')

    def __getattr__(self, name: str) -> typing.Any:
        recorder = self

        class Service:
            def __getattr__(self, verb: str) -> typing.Any:
                def call(*arguments: object, **named: object) -> tuple[object, object]:
                    recorder._reached.append(f'{recorder._whose}{name}.{verb}')
                    return arguments, named

                return call

        return Service()


class TestFenced(base.TestCase):
    """Each verb of each protocol, whoever the cloud is seen by."""

    def setUp(self) -> None:
        super().setUp()
        self.reached: list[str] = []
        self.asked = 0
        self.open = True
        self.recorded: list[deletions.Deletion] = []
        self.cloud = fence.Fenced(
            typing.cast('Cloud', Recorder(self.reached)), self.guard, self.recorded.append
        )

    def guard(self) -> None:
        self.asked += 1
        if not self.open:
            raise fence.ClaimLost(what='lease 7')

    def call(self, cloud: fence.Fenced, name: str) -> typing.Any:
        service, _, verb = name.partition('.')
        return getattr(getattr(cloud, service), verb)(1, two=2)

    def test_the_protocols_have_all_the_verbs_there_are(self) -> None:
        self.assertEqual(set(VERBS), set(verbs()))

    def test_nothing_changes_the_cloud_once_the_claim_is_lost(self) -> None:
        self.open = False
        views = {
            '': self.cloud,
            't:': self.cloud.acting_for('t'),
            'u:': self.cloud.of_caller('u'),
            'u:service:': self.cloud.of_caller('u').as_service(),
        }
        for whose, cloud in views.items():
            for name in verbs():
                del self.reached[:]
                if read_only.is_read_only(name):
                    self.call(cloud, name)
                    self.assertEqual([f'{whose}{name}'], self.reached)
                else:
                    self.assertRaises(fence.ClaimLost, self.call, cloud, name)
                    self.assertEqual([], self.reached)

    def test_what_changes_the_cloud_asks_once_and_is_passed_on(self) -> None:
        changing = [name for name in verbs() if not read_only.is_read_only(name)]
        self.assertGreater(len(changing), 40)
        for name in changing:
            self.assertEqual(((1,), {'two': 2}), self.call(self.cloud, name))
        changes = [name for name in self.reached if not read_only.is_read_only(name)]
        self.assertEqual((changing, len(changing)), (changes, self.asked))

    def test_every_deletion_is_recorded_before_it_is_requested(self) -> None:
        deleting = [name for name in verbs() if name.partition('.')[2].startswith('delete_')]
        self.assertGreater(len(deleting), 15)
        for name in deleting:

            def record(deletion: deletions.Deletion) -> None:
                found = [one for one in self.reached if not read_only.is_read_only(one)]
                self.assertEqual([], found)
                self.recorded.append(deletion)

            cloud = fence.Fenced(typing.cast('Cloud', Recorder(self.reached)), self.guard, record)
            for view in (cloud, cloud.acting_for('t'), cloud.of_caller('u').as_service()):
                del self.recorded[:], self.reached[:]
                self.call(view, name)
                kind = name.partition('.delete_')[2]
                # The ids of trusts are secret.
                wanted = [(kind, '' if kind == 'trust' else '1')]
                self.assertEqual(wanted, [(one.kind, one.id) for one in self.recorded])

    def test_what_cannot_be_recorded_is_not_deleted(self) -> None:
        def fail(_deletion: deletions.Deletion) -> None:
            raise exceptions.DatabaseUnavailable

        cloud = fence.Fenced(typing.cast('Cloud', Recorder(self.reached)), self.guard, fail)
        self.assertRaises(exceptions.DatabaseUnavailable, self.call, cloud, 'compute.delete_flavor')
        self.assertEqual([], self.reached)

    def test_it_is_asked_at_the_call_and_not_before(self) -> None:
        delete = self.cloud.compute.delete_server
        self.open = False
        self.assertRaises(fence.ClaimLost, delete, 'x')

    def test_those_that_only_look_change_nothing_ever(self) -> None:
        cloud = self.closing(SimulatedCloud(':memory:', clock=SystemClock()))
        cloud.seed(1)
        watched = fence.watching(cloud)
        self.assertEqual(1, len(watched.compute.list_hypervisors()))
        self.assertRaises(fence.ClaimLost, watched.compute.create_aggregate, 'a', None)
        self.assertIsNone(cloud.compute.find_aggregate('a'))


class TestClaimGuard(base.TestCase):
    """How long a claim is valid."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock(NOW)
        self.guard = fence.ClaimGuard('lease 7', 6.0, self.clock.ticks, self.clock.ticks())

    def test_it_is_valid_for_its_time_after_the_renewal_was_sent(self) -> None:
        self.clock.advance(5.9)
        self.guard.check()
        self.guard.renewed(self.clock.ticks())
        self.clock.advance(5.9)
        self.guard.check()
        self.assertEqual(5.9, round(self.guard.age(), 3))
        self.clock.advance(0.1)
        self.assertIn('lease 7', self.assertRaises(fence.ClaimLost, self.guard.check).message)

    def test_an_answer_that_took_its_time_does_not_count(self) -> None:
        sent = self.clock.ticks()
        self.clock.advance(5)
        self.guard.renewed(sent)
        self.clock.advance(1)
        self.assertRaises(fence.ClaimLost, self.guard.check)

    def test_an_older_renewal_that_is_answered_later_takes_nothing_back(self) -> None:
        first = self.clock.ticks()
        self.clock.advance(3)
        self.guard.renewed(self.clock.ticks())
        self.guard.renewed(first)
        self.clock.advance(5)
        self.guard.check()

    def test_what_ran_out_is_lost_for_good(self) -> None:
        """Another manager may have had it, and given it back."""
        self.clock.advance(6)
        self.guard.renewed(self.clock.ticks())
        self.assertRaises(fence.ClaimLost, self.guard.check)
        self.clock.move_to(NOW)
        self.assertFalse(self.guard.is_valid())

    def test_what_is_given_up_is_lost(self) -> None:
        self.guard.invalidate()
        self.assertRaises(fence.ClaimLost, self.guard.check)
