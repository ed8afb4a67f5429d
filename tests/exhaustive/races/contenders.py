# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Those who race, as data: what each has beforehand, what it does, what it should have then.

A new one is an entry in :func:`of`, and races with all others of its kind.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from typing import Any

from tests.exhaustive.races.desks import Act
from tests.exhaustive.races.grounds import DAY
from tests.exhaustive.races.grounds import END
from tests.exhaustive.races.grounds import Ground
from tests.exhaustive.races.grounds import HOSTS
from tests.exhaustive.races.grounds import Kind
from tests.exhaustive.races.grounds import START
from tests.exhaustive.races.grounds import WANTED

# What a lease has before it grows.
_LITTLE = 40
_HOST = {'resource_type': 'physical:host', 'min': 1, 'max': 1}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """One that takes part in a round.

    :ivar lease: the name of its lease; '' if it has none
    :ivar lease_id: of a lease that it has beforehand
    """

    act: Act
    lease: str = ''
    lease_id: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contender:
    """A way to change what is booked, or what can be.

    :ivar prepare: writes what so many of them have beforehand; returns them
    :ivar wants: of the scarce class in the window, with what it has; None for a
        whole resource, and for those who book nothing
    :ivar whole: whether it wants a whole resource
    :ivar takes: what it takes from the supply: ``maintenance``, ``disabled``,
        ``deleted`` or ``shrunk``; '' if it books
    :ivar home: where it comes from; '' from nowhere
    :ivar before: how it has the arena before the window: ``parts``, ``whole``, or ''
    :ivar most: how many there can be at once
    :ivar needs: how many resources it takes, where it books from nothing; 0 if it does not
    """

    name: str
    kind: Kind
    prepare: Callable[[Ground, int], list[Entry]]
    wants: int | None = None
    whole: bool = False
    takes: str = ''
    home: str = ''
    before: str = ''
    most: int = 8
    needs: int = 1

    def goes_with(self, other: Contender) -> bool:
        """Say whether both can have what they need beforehand."""
        if self is other:
            return self.most > 1
        return not (self.before and other.before and 'whole' in (self.before, other.before))


def of(kind: Kind) -> list[Contender]:
    """Return those who fight for resources of a kind."""
    found = [
        *_creators(kind),
        *_movers(kind),
        *_operators(kind),
    ]
    return found + (_of_hosts(kind) if kind is HOSTS else [])


# -- new leases


def _creator(name: str, kind: Kind, bodies: list[dict[str, Any]], **facts: Any) -> Contender:
    def prepare(_ground: Ground, count: int) -> list[Entry]:
        names = [f'{name}, {number}' for number in range(count)]
        return [
            Entry(
                act=Act(
                    verb='create',
                    values={'name': each, 'start': START, 'end': END, 'bodies': tuple(bodies)},
                ),
                lease=each,
            )
            for each in names
        ]

    return Contender(name=name, kind=kind, prepare=prepare, **facts)


def _creators(kind: Kind) -> list[Contender]:
    disks = ((300,), (150, 150), (300, 0), (300, 0, 0), (60, 0, 120, 0, 120))
    return [
        _creator(
            f'create {"+".join(map(str, each))}',
            kind,
            [kind.part(disk) for disk in each],
            wants=WANTED,
        )
        for each in disks
    ]


# -- leases that are there


def _mover(
    name: str,
    kind: Kind,
    book: Callable[[Ground, str, int], str],
    act: Callable[[Ground, str], Act],
    finish: Callable[[Ground], None] = lambda _ground: None,
    **facts: Any,
) -> Contender:
    """Return one whose lease is booked beforehand.

    :param book: books a lease of a name, one of so many; returns its id
    :param act: returns what is done with it
    :param finish: called when all are booked
    """

    def prepare(ground: Ground, count: int) -> list[Entry]:
        names = [f'{name}, {number}' for number in range(count)]
        ids = [book(ground, each, count) for each in names]
        finish(ground)
        return [
            Entry(act=act(ground, lease_id), lease=each, lease_id=lease_id)
            for each, lease_id in zip(names, ids, strict=True)
        ]

    return Contender(name=name, kind=kind, prepare=prepare, needs=0, **facts)


def _booked(
    ground: Ground,
    name: str,
    start: datetime.datetime | None,
    end: datetime.datetime,
    *bodies: dict[str, Any],
) -> str:
    return ground.desk.create(name, start=start, end=end, bodies=bodies).id


def _reservation(ground: Ground, lease_id: str) -> str:
    return ground.desk.leases.get(lease_id, None).reservations[0].id


def _running(ground: Ground, name: str, body: dict[str, Any]) -> str:
    lease_id = _booked(ground, name, None, START, body)
    ground.begin(lease_id)
    return lease_id


def _fill(kind: Kind, place: str) -> Callable[[Ground], None]:
    """Return what takes in the window whatever is left of a resource."""

    def filled(ground: Ground) -> None:
        resource_id = ground.ids[kind.name, place]
        written = ground.books()
        used = sum(
            row.amount
            for row in written.within(*_naive()).rows
            if row.resource_id == resource_id and row.resource_class == kind.disk
        )
        left = written.capacity[resource_id, kind.disk] - used
        _booked(ground, 'filler', START, END, kind.part(left))

    return filled


def _out(kind: Kind, place: str) -> Callable[[Ground], None]:
    """Return what announces a maintenance of a resource in the window."""

    def announced(ground: Ground) -> None:
        ground.desk.maintain(ground.ids[kind.name, place], START, END)

    return announced


def _movers(kind: Kind) -> list[Contender]:
    return [
        _mover(
            'change dates',
            kind,
            lambda ground, name, _count: _booked(ground, name, END, END + DAY, kind.part(WANTED)),
            lambda _ground, lease_id: Act(
                verb='change', values={'lease_id': lease_id, 'start': START, 'end': END}
            ),
            _fill(kind, 'field'),
            wants=WANTED,
            home='field',
        ),
        _mover(
            'grow',
            kind,
            lambda ground, name, _count: _booked(ground, name, START, END, kind.part(_LITTLE)),
            lambda ground, lease_id: Act(
                verb='change',
                values={
                    'lease_id': lease_id,
                    'bodies': {_reservation(ground, lease_id): kind.grown(WANTED)},
                },
            ),
            _fill(kind, 'yard'),
            wants=WANTED,
            home='yard',
        ),
        _mover(
            'extend',
            kind,
            lambda ground, name, count: _running(ground, name, kind.part(_share(count))),
            lambda _ground, lease_id: Act(verb='change', values={'lease_id': lease_id, 'end': END}),
            before='parts',
        ),
        _mover(
            'heal',
            kind,
            lambda ground, name, _count: _booked(ground, name, START, END, kind.part(WANTED)),
            lambda _ground, lease_id: Act(verb='heal', values={'lease_id': lease_id}),
            _out(kind, 'shed'),
            wants=WANTED,
            home='shed',
        ),
        _mover(
            'reallocate',
            kind,
            lambda ground, name, _count: _booked(ground, name, START, END, kind.part(WANTED)),
            lambda ground, lease_id: Act(
                verb='reallocate',
                values={
                    'lease_id': lease_id,
                    'reservation_id': _reservation(ground, lease_id),
                    'resource_id': ground.ids[kind.name, 'shed'],
                },
            ),
            _out(kind, 'shed'),
            wants=WANTED,
            home='shed',
        ),
    ]


def with_two(kind: Kind) -> list[Contender]:
    """Return those who book from nothing, for races in which two resources are free."""
    found = [each for each in of(kind) if each.needs]
    if kind is HOSTS:
        bodies = [_HOST, kind.part(WANTED)]
        found.append(_creator('create a host and parts', kind, bodies, wants=WANTED, needs=2))
    return found


def _share(count: int) -> int:
    """Return how much each of so many has that run beside each other."""
    return WANTED if count == 1 else 480 // count


def _naive() -> tuple[datetime.datetime, datetime.datetime]:
    return START.replace(tzinfo=None), END.replace(tzinfo=None)


# -- operators


def _operator(name: str, kind: Kind, takes: str, verb: str, **values: Any) -> Contender:
    def prepare(ground: Ground, count: int) -> list[Entry]:
        act = Act(verb=verb, values={'resource_id': ground.ids[kind.name, 'arena'], **values})
        return [Entry(act=act)] * count

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


# -- whole hosts, and what is booked as a part of something


def _of_hosts(kind: Kind) -> list[Contender]:
    return [
        _creator('create a host', kind, [_HOST], whole=True),
        _creator('create a server', kind, [{'resource_type': 'virtual:server'}], wants=WANTED),
        _creator('create a stack', kind, [{'resource_type': 'virtual:stack'}], wants=WANTED),
        _mover(
            'extend a host',
            kind,
            lambda ground, name, _count: _running(ground, name, _HOST),
            lambda _ground, lease_id: Act(verb='change', values={'lease_id': lease_id, 'end': END}),
            before='whole',
            whole=True,
            most=1,
        ),
        _mover(
            'change dates of a host',
            kind,
            lambda ground, name, _count: _booked(ground, name, END, END + DAY, _HOST),
            lambda _ground, lease_id: Act(
                verb='change', values={'lease_id': lease_id, 'start': START, 'end': END}
            ),
            _fill(kind, 'barn'),
            home='barn',
            whole=True,
            most=1,
        ),
        _mover(
            'heal a host',
            kind,
            lambda ground, name, _count: _booked(ground, name, START, END, _HOST),
            lambda _ground, lease_id: Act(verb='heal', values={'lease_id': lease_id}),
            _out(kind, 'loft'),
            home='loft',
            whole=True,
            most=1,
        ),
        _mover(
            'reallocate a host',
            kind,
            lambda ground, name, _count: _booked(ground, name, START, END, _HOST),
            lambda ground, lease_id: Act(
                verb='reallocate',
                values={
                    'lease_id': lease_id,
                    'reservation_id': _reservation(ground, lease_id),
                    'resource_id': ground.ids[kind.name, 'attic'],
                },
            ),
            _out(kind, 'attic'),
            home='attic',
            whole=True,
            most=1,
        ),
    ]
