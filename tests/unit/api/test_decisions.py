# SPDX-License-Identifier: Apache-2.0
"""Decisions of the policy that are kept for a moment."""

from __future__ import annotations

import datetime
from typing import Any

from climate.api.routing.routing import Decisions
from climate.clock import ManualClock
from tests import base

NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


class _Enforcer:
    """Allows what ``allowed`` has, and notes what it was asked."""

    def __init__(self) -> None:
        self.allowed = {'admin'}
        self.asked: list[tuple[str, str]] = []

    def authorize(self, rule: str, target: Any, credentials: Any) -> bool:
        self.asked.append((rule, target['project_id']))
        return bool(self.allowed.intersection(credentials['roles']))


class TestDecisions(base.TestCase):
    """:class:`climate.api.routing.routing.Decisions`."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock(NOW)
        self.enforcer = _Enforcer()
        self.decisions = Decisions(self.enforcer, self.clock)

    def allows(self, rule: str = 'list', project: str = 'p', roles: tuple[str, ...] = ()) -> bool:
        return self.decisions.allows(rule, {'user_id': 'u', 'project_id': project, 'roles': roles})

    def test_the_same_question_is_asked_once(self) -> None:
        self.assertEqual([False] * 3, [self.allows() for _ in range(3)])
        self.assertEqual([('list', 'p')], self.enforcer.asked)

    def test_other_rules_and_callers_are_other_questions(self) -> None:
        self.assertTrue(self.allows(roles=('admin',)))
        self.assertFalse(self.allows(roles=('member',)))
        self.assertFalse(self.allows(project='q', roles=('member',)))
        self.assertTrue(self.allows(rule='show', roles=('admin',)))
        asked = [('list', 'p'), ('list', 'p'), ('list', 'q'), ('show', 'p')]
        self.assertEqual(asked, self.enforcer.asked)

    def test_a_change_of_the_policy_counts_after_a_second(self) -> None:
        self.assertFalse(self.allows(roles=('member',)))
        self.enforcer.allowed.add('member')
        self.clock.advance(0.9)
        self.assertFalse(self.allows(roles=('member',)))
        self.clock.advance(0.2)
        self.assertTrue(self.allows(roles=('member',)))
