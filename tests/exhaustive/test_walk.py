# SPDX-License-Identifier: Apache-2.0

"""Each call to the cloud fails in turn, in all that can happen to a lease of each type."""

from __future__ import annotations

from collections.abc import Callable

from testtools import content

from climate.testing import walker
from tests import base
from tests.functional import declared
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk.deployment import WalkDeployment

# An error in one step usually occurs in most steps, so a few complaints are enough.
MOST = 10


class TestWalk(base.TestCase):
    """Walks through each scenario of each kind; the loop below adds the tests."""

    def walk(self, kind: kinds.Kind, scenario: walker.Scenario) -> None:
        """Walk through one scenario."""
        walk = walker.Walk(
            self.useFixture(WalkDeployment()), kind, scenario, self.walked(kind, scenario)
        )
        complaints = list(walk.complaints())
        text = (
            f'{walk.steps} steps, {walk.faults} faults, {walk.runs} runs, '
            f'{len(complaints)} complaints'
        )
        self.addDetail('walked', content.text_content(text))
        self.assertEqual('', '\n'.join(complaints[:MOST]))

    def walked(self, kind: kinds.Kind, scenario: walker.Scenario) -> frozenset[str]:
        """Return the keys of the calls in the scenarios whose calls this one repeats."""
        return frozenset(
            call.key
            for other in walker.scenarios(kind)
            if other.name in scenario.again
            for call in walker.Walk(self.useFixture(WalkDeployment()), kind, other).calls()
        )

    def test_every_type_is_walked(self) -> None:
        self.assertEqual(set(declared.places()) - set(kinds.KINDS), set())


def _test(kind: kinds.Kind, scenario: walker.Scenario) -> Callable[[TestWalk], None]:
    return lambda self: self.walk(kind, scenario)


for _name, _kind in kinds.KINDS.items():
    for _scenario in walker.scenarios(_kind):
        _words = f'{_name} {_scenario.name}'.replace(':', '_').replace(' ', '_')
        setattr(TestWalk, f'test_{_words}', _test(_kind, _scenario))
