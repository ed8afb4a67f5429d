# SPDX-License-Identifier: Apache-2.0

"""A client of the random workload, which books, changes and deletes leases.

Only the client that has booked a lease changes it, so its allocations do not change
between a response and the query that reads them.
"""

from __future__ import annotations

import dataclasses
import datetime
import random
import time
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from tests.exhaustive.races.histories import Operation
from tests.exhaustive.races.histories import Use

START = datetime.datetime(2035, 1, 1, tzinfo=datetime.UTC)
HOURS = 3
ROOM = 6

_HAS = sa.text(
    'SELECT a.resource_id, a.amount, a.start_date, a.end_date FROM allocations a'
    ' JOIN reservations r ON r.id = a.reservation_id'
    " WHERE r.lease_id = :lease AND a.resource_class = :scarce AND a.state <> 'released'"
).columns(start_date=sa.DateTime(), end_date=sa.DateTime())


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClientOptions:
    """The options of a random client.

    :ivar process: the number of its process
    :ivar calls: the number of calls
    :ivar scarce: the scarce resource class
    :ivar plenty: a resource class with enough units for all
    :ivar resources: the ids of the contested resources
    :ivar stocks: whether this process changes the capacity; at most one may
    """

    process: int
    seed: str
    calls: int
    resource_type: str
    scarce: str
    plenty: str
    resources: tuple[int, ...]
    stocks: bool = False


class RandomClient:
    """Makes random calls, and records its operations.

    :param service: a :class:`tests.exhaustive.races.in_process.InProcessService`
    """

    def __init__(self, service: Any, options: ClientOptions) -> None:
        self._service = service
        self._options = options
        self._rng = random.Random(options.seed)
        self._mine: list[str] = []
        self._history: list[Operation] = []

    def run(self) -> list[Operation]:
        """Make the calls; return the operations."""
        calls = ['book'] * 5 + ['move', 'resize'] * 2 + ['delete'] * 2
        calls += ['stock'] * self._options.stocks
        for number in range(self._options.calls):
            name = self._rng.choice(calls)
            self._service.pace(number + 1, self._options.process)
            getattr(self, '_' + (name if self._mine or name == 'stock' else 'book'))()
        return self._history

    # -- calls

    def _book(self) -> None:
        lines = self._rng.choice([1, 2, 2, 3])
        units = [self._rng.choice([1, 2, 3]) for _ in range(lines)]
        start, end = self._hours()
        made: list[str] = []

        def book() -> None:
            bodies = tuple(self._body(each) for each in units)
            made.append(self._service.create('l', start=_at(start), end=_at(end), bodies=bodies).id)

        only = units[0] if lines == 1 else None
        self._call(f'book {units}', book, made, only and (only, start, end))
        self._mine += made

    def _move(self) -> None:
        lease = self._rng.choice(self._mine)
        start, end = self._hours()
        had = self._has(lease)
        only = (had[0].units, start, end) if len(had) == 1 else None
        self._call(
            'move',
            lambda: self._service.change(lease, start=_at(start), end=_at(end)),
            [lease],
            only,
        )

    def _resize(self) -> None:
        lease = self._rng.choice(self._mine)
        found = self._service.leases.get(lease, None)
        units = self._rng.choice([1, 2, 3, 4, 5])
        key = self._rng.choice(found.reservations).id
        had = self._has(lease)
        only = (units, had[0].start, had[0].end) if len(had) == 1 else None
        self._call(
            f'resize to {units}',
            lambda: self._service.change(lease, bodies={key: {'resources': self._slot(units)}}),
            [lease],
            only,
        )

    def _delete(self) -> None:
        lease = self._rng.choice(self._mine)
        self._call('delete', lambda: self._service.drop(lease), [lease], None)
        self._mine.remove(lease)

    def _stock(self) -> None:
        resource = self._rng.choice(self._options.resources)
        total = self._rng.choice([3, 4, 5, 6])
        totals = self._slot(total) | {self._options.plenty: 1000}
        begun = time.monotonic()
        refused = self._tried(lambda: self._service.stock(resource, totals))
        if refused is None:
            self._note(begun, f'stock {total}', stocked=((resource, total),))

    # -- records

    def _call(
        self,
        text: str,
        do: Callable[[], None],
        leases: list[str],
        asked: tuple[int, float, float] | None,
    ) -> None:
        """Make a call on a lease, and record the operation.

        :param leases: the id of the lease; *do* adds it if it books a new one
        :param asked: the units, start and end that have no room if the call is refused;
            None if that cannot be determined
        """
        had = self._has(*leases)
        begun = time.monotonic()
        refused = self._tried(do)
        ended = time.monotonic()
        if refused is None:
            self._note(begun, text, ended=ended, gone=had, came=self._has(*leases))
        elif isinstance(refused, exceptions.NotEnoughResources) and asked is not None:
            self._note(begun, f'{text}, refused', ended=ended, gone=had, unfit=asked)

    def _note(self, begun: float, text: str, ended: float | None = None, **facts: Any) -> None:
        self._history.append(
            Operation(
                begun=begun,
                ended=ended or time.monotonic(),
                process=self._options.process,
                text=text,
                **facts,
            )
        )

    @staticmethod
    def _tried(do: Callable[[], None]) -> exceptions.ClimateError | None:
        """Make a call; return the refusal, or None. Any other error is a fault."""
        try:
            do()
        except (exceptions.Conflict, exceptions.InvalidInput, exceptions.NotFound) as error:
            return error
        return None

    def _has(self, *leases: str) -> tuple[Use, ...]:
        found = []
        with self._service.engine.connect() as connection:
            for lease in leases:
                values = {'lease': lease, 'scarce': self._options.scarce}
                for row in connection.execute(_HAS, values):
                    start, end = (_hour(each) for each in (row.start_date, row.end_date))
                    found.append(Use(row.resource_id, row.amount, start, end))
        return tuple(sorted(found))

    # -- requests

    def _hours(self) -> tuple[int, int]:
        start = self._rng.randrange(HOURS)
        return start, self._rng.randint(start + 1, HOURS)

    def _slot(self, units: int) -> dict[str, int]:
        return {self._options.scarce: units}

    def _body(self, units: int) -> Mapping[str, Any]:
        return {
            'resource_type': self._options.resource_type,
            'amount': 1,
            'resources': self._slot(units),
        }


def _at(hour: float) -> datetime.datetime:
    return START + datetime.timedelta(hours=hour)


def _hour(instant: datetime.datetime) -> float:
    return (instant - START.replace(tzinfo=None)) / datetime.timedelta(hours=1)
