# SPDX-License-Identifier: Apache-2.0

"""The effects of a type, in every case; and each of their calls fails in turn.

The cases are run undisturbed with the tests of the type, and once for each call
that fails by ``tests/exhaustive/test_effects.py``: the walk does not have their
runners, in whose cloud others have a part of the cloud, or another user has changed it.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any
from typing import ClassVar

from tests import base
from tests.unit.plugins.effect_runners import FailingCallCloud
from tests.unit.plugins.effect_runners import LOOKS
from tests.unit.plugins.effect_runners import When


def that_matter(verb: str) -> tuple[When, ...]:
    """Return when a verb can fail so that it makes a difference."""
    return ('before',) if verb.startswith(LOOKS) else ('before', 'after')


class EveryCase(base.TestCase, abc.ABC):
    """What has to hold in every case; tests of a type say what is right.

    :cvar cases: each with an ``effect``, and what makes the runner that is ``given``
    :cvar beginnings: what makes the runners in which a lease starts
    :cvar least: as many calls fail at least, in all cases together
    :cvar blind: verbs that are called although nothing is to be done
    """

    cases: ClassVar[tuple[Any, ...]] = ()
    beginnings: ClassVar[tuple[Callable[[], Any], ...]] = ()
    least: ClassVar[int] = 1
    blind: ClassVar[frozenset[str]] = frozenset()

    @abc.abstractmethod
    def finish(self, case: Any, runner: Any, failing: FailingCallCloud) -> None:
        """Run the case to its end, with all that must hold meanwhile."""

    @abc.abstractmethod
    def nothing_left(self, runner: Any) -> None:
        """Check that an end has left nothing."""

    def moments(self, _verb: str) -> tuple[When, ...]:
        """Return when a verb is to fail."""
        return ('before', 'after')

    def test_clean_run_and_another(self) -> None:
        for case in self.cases:
            runner = case.given()
            self.finish(case, runner, FailingCallCloud(runner.cloud))
            again = FailingCallCloud(runner.cloud)
            self.finish(case, runner, again)
            self.assertLessEqual(set(again.changes), self.blind)


class EachCallFails(EveryCase):
    """The same must hold whichever call fails."""

    def test_each_call_fails_once(self) -> None:
        tried = 0
        for case in self.cases:
            clean = case.given()
            calls = FailingCallCloud(clean.cloud)
            clean.run(case.effect, calls)
            for nth, verb in enumerate(calls.made, 1):
                for when in self.moments(verb):
                    runner = case.given()
                    failing = FailingCallCloud(runner.cloud, nth, when)
                    self.finish(case, runner, failing)
                    self.assertGreater(len(failing.made), nth)
                    tried += 1
        self.assertGreaterEqual(tried, self.least)

    def test_a_start_that_fails_anywhere_can_be_undone(self) -> None:
        for given in self.beginnings:
            clean = given()
            calls = FailingCallCloud(clean.cloud)
            clean.run('start', calls)
            for nth, verb in enumerate(calls.made, 1):
                for when in self.moments(verb):
                    runner = given()
                    failing = FailingCallCloud(runner.cloud, nth, when)
                    while runner.once('start', failing) is not None:
                        runner.clock.advance(1)
                    runner.run('end')
                    self.nothing_left(runner)
