# SPDX-License-Identifier: Apache-2.0

"""The contenders of a race, as data: initial state, call, and expected result.

To add one, add an entry to :func:`of`; it then races with all others of its kind.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from tests.exhaustive.races.databases import DAY
from tests.exhaustive.races.databases import END
from tests.exhaustive.races.databases import HOSTS
from tests.exhaustive.races.databases import Kind
from tests.exhaustive.races.databases import RaceDatabase
from tests.exhaustive.races.databases import START
from tests.exhaustive.races.databases import WANTED
from tests.exhaustive.races.databases import WINDOW
from tests.exhaustive.races.in_process import Call

# The scarce units that a lease has before it grows.
_LITTLE = 40
_HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """A participant in a round.

    :ivar lease: the name of its lease; '' if it has none
    :ivar lease_id: the id of the lease that it has before the round; '' if it has none
    """

    call: Call
    lease: str = ''
    lease_id: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contender:
    """A call that changes the bookings, or the supply of resources.

    :ivar prepare: writes the initial state of a number of participants; returns them
    :ivar wants: the units of the scarce class that it has in the window if it succeeds;
        None for a whole resource, and for participants that book nothing
    :ivar whole: whether it wants a whole resource
    :ivar takes: how it reduces the supply: ``maintenance``, ``disabled``, ``deleted`` or
        ``shrunk``; '' if it books
    :ivar home: the place of the resource that it has before the round; '' for none
    :ivar before: how it uses the contested resource before the window: ``parts``,
        ``whole``, or ''
    :ivar most: the maximum number of participants in a round
    :ivar needs: the number of resources that a new lease takes; 0 if it books none
    :ivar holds: whether it takes what it has held before, so that a resource may have been
        closed meanwhile
    """

    name: str
    kind: Kind
    prepare: Callable[[RaceDatabase, int], list[Entry]]
    wants: int | None = None
    whole: bool = False
    takes: str = ''
    home: str = ''
    before: str = ''
    most: int = 8
    needs: int = 1
    holds: bool = False

    def can_race_with(self, other: Contender) -> bool:
        """Whether the initial states of both are compatible."""
        if self is other:
            return self.most > 1
        return not (self.before and other.before and 'whole' in (self.before, other.before))


def of(kind: Kind) -> list[Contender]:
    """Return the contenders for resources of a kind."""
    of_hosts = _of_hosts(kind) if kind is HOSTS else []
    return [*_creators(kind), *_movers(kind), *_operators(kind), *of_hosts]


# -- new leases


def _creator(
    name: str,
    kind: Kind,
    bodies: list[dict[str, Any]],
    verb: str = 'create',
    *,
    expired: Sequence[Mapping[str, Any]] = (),
    **facts: Any,
) -> Contender:
    """Return a contender that books a new lease.

    :param expired: the reservations of a hold that has expired before the round
    """

    def prepare(database: RaceDatabase, count: int) -> list[Entry]:
        if expired:
            database.service.hold_in_vain(START, END, tuple(expired))
        names = [f'{name}, {number}' for number in range(count)]
        return [
            Entry(
                call=Call(
                    verb=verb,
                    values={'name': each, 'start': START, 'end': END, 'bodies': tuple(bodies)},
                ),
                lease=each,
            )
            for each in names
        ]

    return Contender(name=name, kind=kind, prepare=prepare, **facts)


def _creators(kind: Kind) -> list[Contender]:
    disks = ((300,), (150, 150), (300, 0), (300, 0, 0), (60, 0, 120, 0, 120))
    found = {
        f'create {"+".join(map(str, each))}': [kind.part(disk) for disk in each] for each in disks
    }
    had, two = [kind.part(WANTED)], found['create 150+150']
    return [
        *(_creator(name, kind, bodies, wants=WANTED) for name, bodies in found.items()),
        _creator('hold, then take', kind, two, 'hold_and_take', wants=WANTED, holds=True),
        # Its parts can be on different resources: the hold is in the way until a refusal.
        _creator('create what was held', kind, two, expired=had, wants=WANTED, needs=2),
    ]


# -- existing leases


def _mover(
    name: str,
    kind: Kind,
    book: Callable[[RaceDatabase, str, int], str],
    call: Callable[[RaceDatabase, str], Call],
    finish: Callable[[RaceDatabase], None] = lambda _database: None,
    **facts: Any,
) -> Contender:
    """Return a contender whose lease is booked before the round.

    :param book: books a lease with a name, for one of a number of participants; returns
        its id
    :param call: returns the call that changes it
    :param finish: called when all leases are booked
    """

    def prepare(database: RaceDatabase, count: int) -> list[Entry]:
        names = [f'{name}, {number}' for number in range(count)]
        ids = [book(database, each, count) for each in names]
        finish(database)
        return [
            Entry(call=call(database, lease_id), lease=each, lease_id=lease_id)
            for each, lease_id in zip(names, ids, strict=True)
        ]

    return Contender(name=name, kind=kind, prepare=prepare, needs=0, **facts)


def _booked(
    database: RaceDatabase,
    name: str,
    start: datetime.datetime | None,
    end: datetime.datetime,
    *bodies: dict[str, Any],
) -> str:
    return database.service.create(name, start=start, end=end, bodies=bodies).id


def _reservation(database: RaceDatabase, lease_id: str) -> str:
    return database.service.leases.get(lease_id, None).reservations[0].id


def _running(database: RaceDatabase, name: str, body: dict[str, Any]) -> str:
    lease_id = _booked(database, name, None, START, body)
    database.begin(lease_id)
    return lease_id


def _fill(kind: Kind, place: str) -> Callable[[RaceDatabase], None]:
    """Return a function that books the rest of a resource in the window."""

    def filled(database: RaceDatabase) -> None:
        resource_id = database.ids[kind.name, place]
        written = database.records()
        used = sum(
            row.amount
            for row in written.within(*WINDOW).rows
            if row.resource_id == resource_id and row.resource_class == kind.disk
        )
        left = written.capacity[resource_id, kind.disk] - used
        _booked(database, 'filler', START, END, kind.part(left))

    return filled


def _out(kind: Kind, place: str, start: Any = START, end: Any = END) -> Callable[..., None]:
    """Return a function that creates a maintenance of a resource, in the window or later."""

    def announced(database: RaceDatabase) -> None:
        database.service.maintain(database.ids[kind.name, place], start, end)

    return announced


def _at_first(start: Any, end: Any, body: dict[str, Any]) -> Callable[..., str]:
    """Return a function that books a lease, whatever the number of participants."""
    return lambda database, name, _count: _booked(database, name, start, end, body)


def _changed(**values: Any) -> Callable[..., Call]:
    """Return a function that makes a call which changes a lease."""
    return lambda _database, lease_id: Call(verb='change', values={'lease_id': lease_id, **values})


def _grown(kind: Kind) -> Callable[..., Call]:
    return lambda database, lease_id: _changed(
        bodies={_reservation(database, lease_id): kind.grown(WANTED)}
    )(database, lease_id)


def _healed(_database: RaceDatabase, lease_id: str) -> Call:
    return Call(verb='heal', values={'lease_id': lease_id})


def _reallocated(kind: Kind, place: str) -> Callable[..., Call]:
    return lambda database, lease_id: Call(
        verb='reallocate',
        values={
            'lease_id': lease_id,
            'reservation_id': _reservation(database, lease_id),
            'resource_id': database.ids[kind.name, place],
        },
    )


def _movers(kind: Kind) -> list[Contender]:
    wanted, little = kind.part(WANTED), kind.part(_LITTLE)
    now, later = _at_first(START, END, wanted), _at_first(END, END + DAY, wanted)
    moved, dated = {'home': 'moves', 'wants': WANTED}, {'home': 'dates', 'wants': WANTED}
    to_window, grow = _changed(start=START, end=END), _at_first(START, END, little)
    full, out = _fill(kind, 'growth'), _out(kind, 'moves')

    def running(database: RaceDatabase, name: str, count: int) -> str:
        return _running(database, name, kind.part(WANTED if count == 1 else 480 // count))

    return [
        _mover('change dates', kind, later, to_window, _fill(kind, 'dates'), **dated),
        _mover('grow', kind, grow, _grown(kind), full, wants=WANTED, home='growth'),
        _mover('extend', kind, running, _changed(end=END), before='parts'),
        _mover('heal', kind, now, _healed, out, **moved),
        _mover('reallocate', kind, now, _reallocated(kind, 'moves'), out, **moved),
    ]


def with_two(kind: Kind) -> list[Contender]:
    """Return the contenders that book new leases, for races for two free resources."""
    found = [each for each in of(kind) if each.needs]
    if kind is HOSTS:
        bodies = [_HOST, kind.part(WANTED)]
        found.append(_creator('create a host and parts', kind, bodies, wants=WANTED, needs=2))
    return found


# -- operators


def _operator(name: str, kind: Kind, takes: str, verb: str, *first: Any, **more: Any) -> Contender:
    def prepare(database: RaceDatabase, count: int) -> list[Entry]:
        for each in first:
            each(database)
        call = Call(verb=verb, values={'resource_id': database.ids[kind.name, 'contested'], **more})
        return [Entry(call=call)] * count

    return Contender(name=name, kind=kind, prepare=prepare, takes=takes, needs=0)


def _operators(kind: Kind) -> list[Contender]:
    found = [
        _operator('maintenance', kind, 'maintenance', 'maintain', start=START, end=END),
        _operator('disable', kind, 'disabled', 'disable'),
        _operator('delete', kind, 'deleted', 'delete'),
    ]
    if kind is not HOSTS:
        less = {kind.disk: WANTED - 100, kind.cores: 100}
        found.append(_operator('shrink', kind, 'shrunk', 'stock', totals=less))
    return found


# -- whole hosts, and resource types that book parts of hosts


def _of_hosts(kind: Kind) -> list[Contender]:
    window, out = {'start': START, 'end': END}, _out(kind, 'contested', END + DAY, END + 2 * DAY)
    whole: dict[str, Any] = {'whole': True, 'most': 1}
    now, later = _at_first(START, END, _HOST), _at_first(END, END + DAY, _HOST)
    to_window, moved = _changed(**window), _reallocated(kind, 'host-moves')
    full = _fill(kind, 'host-dates')
    failing, leaving = _out(kind, 'host-healing'), _out(kind, 'host-moves')
    return [
        _operator('move a maintenance', kind, 'maintenance', 'postpone', out, **window),
        _creator('create a host', kind, [_HOST], whole=True),
        _creator('create a server', kind, [{'resource_type': 'virtual:server'}], wants=WANTED),
        _creator('create a stack', kind, [{'resource_type': 'virtual:stack'}], wants=WANTED),
        _mover(
            'extend a host',
            kind,
            lambda database, name, _count: _running(database, name, _HOST),
            _changed(end=END),
            before='whole',
            **whole,
        ),
        _mover('change dates of a host', kind, later, to_window, full, home='host-dates', **whole),
        _mover('heal a host', kind, now, _healed, failing, home='host-healing', **whole),
        _mover('reallocate a host', kind, now, moved, leaving, home='host-moves', **whole),
    ]
