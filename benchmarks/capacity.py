# SPDX-License-Identifier: Apache-2.0
"""Measures slots: the choice of 50, refusals, and the duration of a create."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from benchmarks.figures import timed
from climate import exceptions
from climate.booking.choosing.choose import Chooser
from climate.booking.choosing.requirements import Requirements
from climate.booking.leases import Leases
from climate.cmd import composition
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.domain.resources import Spread
from climate.leases.settings import LeasingSettings
from tests.functional import bulk_parts
from tests.functional.db import plans
from tests.functional.manager import slots

SLOTS = 50
MOST_STATEMENTS = 20

_CALLER = Caller(user_id='u', project_id='project-1')
_DAY = 24 * parts.HOUR
_SETTINGS = LeasingSettings()


class Bench:
    """The measurements of one engine with one number of hosts.

    :param clock: returns seconds
    """

    def __init__(
        self,
        engine: str,
        core: composition.Core,
        size: str,
        times: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._engine = engine
        self._core = core
        self._size = size
        self._times = times
        self._clock = clock
        self._plugin: Any = slots.Slots()

    def choices(self, now: Any, aim: float) -> Iterator[Figure]:
        """Measure the choice of 50 slots, and a refusal."""
        windows = {
            'tomorrow, 1 h, a third is free': Period(start=now + _DAY, end=now + _DAY + parts.HOUR),
            'tomorrow, 6 h, nearly full': Period(start=now + _DAY, end=now + _DAY + 6 * parts.HOUR),
            'next year, all is free': Period(start=now + 365 * _DAY, end=now + 366 * _DAY),
        }
        for window, period in windows.items():
            for spread in Spread:
                outcome, found = self._choice(period, SLOTS, spread)
                yield self._figure(f'{SLOTS} slots {spread.value}, {window}{outcome}', found, aim)
        nearly = windows['tomorrow, 6 h, nearly full']
        outcome, found = self._choice(nearly, 100_000, Spread.ANY)
        yield self._figure(f'100,000 slots, nearly full{outcome}', found, aim)

    def _choice(self, period: Period, wanted: int, spread: Spread) -> tuple[str, float]:
        """Return a suffix that marks a refusal, and the median duration in milliseconds."""
        body = {
            'min': wanted,
            'max': wanted,
            'demand': bulk_parts.DEMAND,
            'spread': spread.value,
            'contrary': False,
        }
        request = self._plugin.parse(body)
        needed = Requirements(
            search=self._plugin.search(request),
            plugin=self._plugin,
            request=request,
            period=period,
            padded=period,
            minimum=wanted,
            maximum=wanted,
            private=False,
        )
        rng = random.Random(3)
        outcomes = set()

        def choose() -> None:
            with self._core.store.reading() as tx:
                try:
                    Chooser(tx, _SETTINGS, rng).choose(needed)
                except exceptions.NotEnoughResources:
                    outcomes.add(', refused')
                else:
                    outcomes.add('')

        found = quantile(timed(choose, self._times, self._clock), 0.5)
        (outcome,) = outcomes
        return outcome, found

    def creations(self, aim: float) -> Iterator[Figure]:
        """Measure the creation of leases of 50 slots, and count its statements."""
        core = self._core
        leases = Leases(
            core.store,
            {self._plugin.resource_type: self._plugin},
            core.clock,
            _SETTINGS,
            lambda: None,
            random.Random(5),
        )
        rng = random.Random(3)
        counted = []

        def book(spread: Spread) -> None:
            start = core.clock.now() + rng.randrange(5, 20 * 24 * 60) * parts.HOUR / 60
            with plans.captured(core.store.engine) as statements:
                leases.create(_CALLER, _draft(start, spread))
            counted.append(len(statements))

        for spread in (Spread.ANY, Spread.APART):
            counted.clear()
            found = timed(lambda spread=spread: book(spread), 2 * self._times, self._clock)
            what = f'create of {SLOTS} slots {spread.value}'
            yield self._figure(what, quantile(found, 0.5), aim)
            yield Figure(
                engine=self._engine,
                what=f'{self._size}: {what}, statements at most',
                value=max(counted),
                unit='',
                aim=MOST_STATEMENTS,
            )

    def _figure(self, what: str, value: float, aim: float) -> Figure:
        return Figure(engine=self._engine, what=f'{self._size}: {what}', value=value, aim=aim)


def _draft(start: Any, spread: Spread) -> LeaseDraft:
    body = {
        'resource_type': slots.RESOURCE_TYPE,
        'min': SLOTS,
        'max': SLOTS,
        'demand': bulk_parts.DEMAND,
        'spread': spread.value,
        'contrary': False,
    }
    return LeaseDraft(name='b', start=start, end=start + parts.HOUR, reservations=(body,))
