# SPDX-License-Identifier: Apache-2.0

"""Measures the cost of verifying a booking: creates with and without it.

Prints a row for each measurement and a column for each engine; a ratio that
misses its target is marked with an exclamation mark, and does not fail the run.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks import engines
from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from climate.booking.leases import Leases
from climate.clock import SystemClock
from climate.cmd import composition
from climate.db.booking.writer import PendingBookings
from climate.db.migrations import migration
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.leases.settings import LeasingSettings
from climate.plugins.host.plugin import PhysicalHost
from tests import services
from tests.functional import bulk_parts
from tests.functional.manager import slots
from tests.functional.manager import yard

AIM = 110.0

_CALLER = Caller(user_id='u', project_id='project-1')
_BODIES: dict[str, list[dict[str, Any]]] = {
    'one host': [yard.hosts(1)],
    'one slot of two classes': [yard.parts(1, bulk_parts.DEMAND)],
    'five reservations': [yard.hosts(2), *[yard.parts(2, bulk_parts.DEMAND)] * 4],
}


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    engines.measure(options, lambda engine: _measure(engine, options.times))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = engines.parser(__doc__)
    parser.add_argument('--times', type=int, default=200, help='number of creates of each kind')
    return parser


def _measure(engine: str, times: int) -> Iterator[Figure]:
    with services.Database(engine) as database:
        core = parts.core(database.url)
        migration.sync(core.store.engine)
        now = SystemClock().now()
        bulk_parts.Parts(hosts=1000, allocations=20_000, now=now).fill(core.store.engine)
        for what, bodies in _BODIES.items():
            with_it, without = _creations(core, bodies, now, times)
            for name, value in (('verified', with_it), ('not verified', without)):
                yield Figure(engine=engines.NAMES[engine], what=f'{what}, {name}, p50', value=value)
            yield Figure(
                engine=engines.NAMES[engine],
                what=f'{what}, verified by not verified',
                value=100 * with_it / without,
                unit='%',
                aim=AIM,
            )
        core.store.close()


def _creations(
    core: composition.Core, bodies: list[dict[str, Any]], now: datetime.datetime, times: int
) -> tuple[float, float]:
    """Return the median durations with and without verification, in milliseconds."""
    plugins = {slots.RESOURCE_TYPE: slots.Slots(), 'physical:host': PhysicalHost()}
    leases = Leases(
        core.store, plugins, core.clock, LeasingSettings(), lambda: None, random.Random(5)
    )
    rng = random.Random(3)
    verified: list[float] = []
    unverified: list[float] = []
    with _timed() as verifications:
        for turn in range(times + 2):
            start = now + datetime.timedelta(days=400, minutes=rng.randrange(20 * 24 * 60))
            draft = LeaseDraft(
                name='bench', start=start, end=start + parts.HOUR, reservations=tuple(bodies)
            )
            verifications.clear()
            began = time.perf_counter()
            leases.create(_CALLER, draft)
            passed = time.perf_counter() - began
            # Without the first ones, which are slower.
            if turn > 1:
                verified.append(1000 * passed)
                unverified.append(1000 * (passed - sum(verifications)))
    return quantile(verified, 0.5), quantile(unverified, 0.5)


@contextlib.contextmanager
def _timed() -> Iterator[list[float]]:
    """Collect the durations of the verifications, in seconds.

    They are subtracted from those of the same creates, because on a busy machine two
    creates differ by more than a verification takes.
    """
    found: list[float] = []
    verify = PendingBookings.verify

    def timed(pending: PendingBookings, session: Any) -> None:
        began = time.perf_counter()
        verify(pending, session)
        found.append(time.perf_counter() - began)

    try:
        PendingBookings.verify = timed  # type: ignore[method-assign]  # nothing else is measured
        yield found
    finally:
        PendingBookings.verify = verify  # type: ignore[method-assign]  # as it was


if __name__ == '__main__':
    sys.exit(main())
