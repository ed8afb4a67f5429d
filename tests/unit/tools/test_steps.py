# SPDX-License-Identifier: Apache-2.0

"""Steps that need each other."""

from __future__ import annotations

import threading

from tests import base
from tools.cloud import steps
from tools.cloud.errors import CloudError
from tools.cloud.steps import Step


class StepsTest(base.TestCase):
    """Done in an order that fits, and not after a failure."""

    def setUp(self) -> None:
        super().setUp()
        self.done: list[str] = []

    def _step(self, name: str, *needs: str) -> Step:
        return Step(name=name, action=lambda: self.done.append(name), needs=needs)

    def test_needs_come_first(self) -> None:
        steps.do_all([self._step('c', 'b'), self._step('b', 'a'), self._step('a')])
        self.assertEqual(['a', 'b', 'c'], self.done)

    def test_several_at_once(self) -> None:
        # Each waits for the other: one after the other, neither would end.
        meeting = threading.Barrier(2, timeout=10)
        steps.do_all([Step(name=name, action=meeting.wait) for name in 'ab'])

    def test_not_more_than_allowed(self) -> None:
        steps.do_all([self._step(name) for name in 'abc'], at_once=1)
        self.assertEqual(['a', 'b', 'c'], self.done)

    def test_a_failure_ends_it(self) -> None:
        def fail() -> None:
            raise CloudError('no such thing')

        failing = [Step(name='a', action=fail), self._step('b', 'a')]
        error = self.assertRaises(CloudError, steps.do_all, failing)
        self.assertEqual('a: no such thing', str(error))
        self.assertEqual([], self.done)

    def test_a_need_that_nothing_makes(self) -> None:
        self.assert_error(CloudError, 'what b needs', steps.do_all, [self._step('b', 'a')])
