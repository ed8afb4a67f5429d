# SPDX-License-Identifier: Apache-2.0

"""When limits let a lease begin, against a reference that looks at each minute."""

from __future__ import annotations

import datetime
from types import SimpleNamespace
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate.allocation.steps import microseconds
from climate.booking.planning.allowances import Allowances
from climate.domain.periods import Period
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from tests import base

_NOON = datetime.datetime(2031, 1, 1, 12, tzinfo=datetime.UTC)
_MINUTE = 60 * 10**6
_LAST = 40
_USES = st.lists(
    st.tuples(st.sampled_from(['mine', 'a', 'b']), st.integers(0, 20), st.integers(1, 10)),
    max_size=8,
)


def _at(minute: int) -> datetime.datetime:
    return _NOON + minute * datetime.timedelta(minutes=1)


def _micro(minute: int) -> int:
    return microseconds(_NOON) + minute * _MINUTE


def _seeker(length: int, count: int, waits: bool) -> Any:
    search = SimpleNamespace(names=(), demand={})
    return SimpleNamespace(
        lease=SimpleNamespace(
            id='mine', project_id='p', period=Period(start=_at(0), end=_at(length))
        ),
        one=SimpleNamespace(needed=[SimpleNamespace(search=search, minimum=count)]),
        own=() if waits else (1,),
        length=length * _MINUTE,
        before=_micro(_LAST),
    )


class _Transaction:
    now = _NOON

    def __init__(self, uses: list[tuple[str, int, int]]) -> None:
        self.projects = self
        self.found = [(name, Period(start=_at(one), end=_at(one + two))) for name, one, two in uses]

    def uses(self, project_ids: list[str]) -> dict[str, list[tuple[str, Period]]]:
        return dict.fromkeys(project_ids, self.found)


class TestAllowances(base.TestCase):
    """A project that may have so many resources at an instant."""

    @hypothesis.given(
        uses=_USES,
        most=st.integers(1, 4),
        length=st.integers(1, 6),
        count=st.integers(1, 4),
        first=st.integers(0, 10),
        waits=st.booleans(),
    )
    def test_a_lease_begins_as_soon_as_there_is_little_enough(
        self,
        uses: list[tuple[str, int, int]],
        most: int,
        length: int,
        count: int,
        first: int,
        waits: bool,
    ) -> None:
        uses = [one for one in uses if one[0] != 'mine' or not waits]
        levels = [count] * (_LAST + length)
        for name, start, lasts in uses:
            for minute in range(start, start + lasts):
                levels[minute] += name != 'mine'
        fits = (
            _micro(start)
            for start in range(first, _LAST)
            if max(levels[start : start + length]) <= most
        )
        allowances = Allowances(ProjectLimits(usual=Limits(resources=most)))
        one: Any = _seeker(length, count, waits)
        tx: Any = _Transaction(uses)
        self.assertEqual(set(), allowances.follow(tx, [one]))
        found = allowances.start(one, _micro(first))
        self.assertEqual(next(fits, None), found)
        # It is looked at again if the project has changed only.
        self.assertEqual(set(), allowances.follow(tx, [one]))
        tx.found = [*tx.found, ('new', Period(start=_at(0), end=_at(1)))]
        held = {'mine'} if found != _micro(first) else set()
        self.assertEqual(held, allowances.follow(tx, [one]))
