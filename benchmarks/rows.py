# SPDX-License-Identifier: Apache-2.0

"""Measures the ways to insert many rows: processor time per row, with that of the database.

Prints a row for each way and number of rows, and a column for each engine. ``plain`` is an
INSERT of SQLAlchemy, ``document`` that of :func:`climate.db.statements.bulk.insert`, and
``driver`` that of :func:`climate.db.statements.inserts.insert`.
"""

from __future__ import annotations

import itertools
import sys
import uuid
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from benchmarks import engines
from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import quantile
from benchmarks.figures import timed
from benchmarks.processors import ProcessorClock
from climate.clock import SystemClock
from climate.db.engine.prepared import prepared
from climate.db.migrations import migration
from climate.db.schema.tables import OUTBOX
from climate.db.statements import bulk
from climate.db.statements import inserts
from tests import services

_PLAIN = prepared(sa.insert(OUTBOX))
_WAYS: dict[str, Callable[[sa.Connection, list[dict[str, Any]]], Any]] = {
    'plain': lambda session, rows: session.execute(_PLAIN, rows),
    'document': lambda session, rows: bulk.insert(session, OUTBOX, rows),
    'driver': lambda session, rows: inserts.insert(session, _PLAIN, rows),
}
_NUMBERS = (1, 4, 8, 50)
_ROUNDS = 5


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = engines.parser(__doc__)
    parser.add_argument('--times', type=int, default=100, help='inserts of each kind in a round')
    options = parser.parse_args()
    engines.measure(options, lambda engine: _measure(engine, options.times))
    return 0


def _measure(engine: str, times: int) -> Iterator[Figure]:
    """Yield the figures; the ways take turns, so that a busy machine slows all of them."""
    with services.Database(engine) as database:
        core = parts.core(database.url)
        migration.sync(core.store.engine)
        with core.store.engine.connect() as session:
            clock = ProcessorClock(core.store.engine)
            spent: dict[tuple[int, str], list[float]] = {}
            for _, number, way in itertools.product(range(_ROUNDS), _NUMBERS, _WAYS):
                found = timed(lambda n=number, w=way: _WAYS[w](session, _rows(n)), times, clock)
                spent.setdefault((number, way), []).append(sum(found) / times / number)
                session.rollback()
        core.store.close()
    for (number, way), values in spent.items():
        what = f'{number} rows, {way}'
        yield Figure(engine=engine, what=what, value=1000 * quantile(values, 0.5), unit='µs')


def _rows(number: int) -> list[dict[str, Any]]:
    return [
        {
            'id': str(uuid.uuid4()),
            'lease_id': 'a lease',
            'event_type': 'lease.update',
            'priority': 'INFO',
            'payload': {'name': 'one', 'reservations': [{'id': n} for n in range(3)]},
            'created_at': SystemClock.now(),
        }
        for _ in range(number)
    ]


if __name__ == '__main__':
    sys.exit(main())
