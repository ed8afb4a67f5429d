# SPDX-License-Identifier: Apache-2.0

"""A database with contested resources, which is cheap to reset between two rounds.

There are eight resources of each kind. All contenders compete for ``contested``, which is
free in the window, the day of the race. The others are the initial resources of
contenders with existing leases. They are disabled unless such a contender takes part, and
the window has no room on them.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import pathlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

import fixtures
import sqlalchemy as sa

from climate.db.migrations import migration
from climate.domain.resources import Inventory
from climate.domain.resources import ResourceDraft
from tests import services
from tests.exhaustive.races import records
from tests.exhaustive.races.in_process import InProcessService
from tests.functional.db import unguarded

ROOM = 500
WANTED = 300
# Enough for the leases of any contender on its initial resource.
_ELSEWHERE = 6000
_PLENTY = 10000
DAY = datetime.timedelta(days=1)
START = datetime.datetime(2035, 1, 1, tzinfo=datetime.UTC)
END = START + DAY
# As in the database.
WINDOW = (START.replace(tzinfo=None), END.replace(tzinfo=None))
PLACES = (
    'contested',
    'dates',
    'growth',
    'moves',
    'host-dates',
    'host-healing',
    'host-moves',
    'spare',
)

# In the order in which foreign keys allow their rows to be deleted.
_EMPTIED = (
    'allocations',
    'events',
    'steps',
    'charges',
    'outbox',
    'reservations',
    'leases',
    'maintenances',
    'trusts',
    'offers',
)

Rows = Mapping[str, tuple[Mapping[str, Any], ...]]
"""Rows by table."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of contested resources: hosts, or resources of a type that operators declare.

    :ivar disk: the scarce resource class
    :ivar cores: a resource class with enough units for all
    """

    name: str
    resource_type: str
    disk: str
    cores: str

    def part(self, disk: int) -> dict[str, Any]:
        """Return a reservation of *disk* units of the scarce class, and few of another."""
        if self.resource_type == 'physical:host':
            sizes = {'vcpus': 1, 'memory_mb': 64, 'disk_gb': disk}
            return {'resource_type': 'virtual:instance', 'amount': 1, **sizes}
        units = {self.cores: 1, **({self.disk: disk} if disk else {})}
        return {'resource_type': self.resource_type, 'amount': 1, 'resources': units}

    def grown(self, disk: int) -> dict[str, Any]:
        """Return the change of a reservation to *disk* units of the scarce class."""
        if self.resource_type == 'physical:host':
            return {'disk_gb': disk}
        return {'resources': {self.cores: 1, self.disk: disk}}


HOSTS = Kind(name='hosts', resource_type='physical:host', disk='DISK_GB', cores='VCPU')
RIGS = Kind(name='rigs', resource_type='custom:rig', disk='SLOT', cores='PORT')
KINDS = (HOSTS, RIGS)
_TYPES = [
    {
        'name': RIGS.resource_type,
        'noun': 'rigs',
        'exclusive': False,
        'classes': {RIGS.disk: ROOM, RIGS.cores: _PLENTY},
    }
]


class OnEngine(fixtures.Fixture):
    """What needs a database server, the kind of which it gets."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def setUp(self) -> None:
        """Skip the test if the database server is not installed."""
        services.require(self._kind)
        super().setUp()


class BookedDatabase(OnEngine):
    """A database of the service.

    :ivar engine: the engine of the database
    :param guarded: whether the database has its constraints and triggers
    """

    engine: sa.Engine

    def __init__(self, kind: str, *, guarded: bool = True) -> None:
        super().__init__(kind)
        self._guarded = guarded

    def migrate(self, engine: sa.Engine) -> None:
        """Create the tables."""
        self.engine = engine
        migration.sync(engine)
        if not self._guarded:
            with engine.begin() as connection:
                unguarded.remove(connection)

    def records(self) -> records.Records:
        """Read the records of the database."""
        with self.engine.connect() as connection:
            return records.read(connection)


class RaceDatabase(BookedDatabase):
    """A database with resources of each kind.

    :ivar service: the service on this database
    :ivar ids: the ids of the resources, by the name of their kind and their place
    :ivar place: the arguments of the services of other processes
    """

    def _setUp(self) -> None:
        url = self.useFixture(services.Database(self._kind)).url
        types = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'types.yaml'
        # JSON is valid YAML.
        types.write_text(json.dumps({'resource_types': _TYPES}))
        self.place = (url, str(types), WANTED)
        self.service = InProcessService(*self.place)
        self.addCleanup(self.service.close)
        self.migrate(self.service.engine)
        self.ids = {
            (kind.name, place): self._register(kind, place) for kind in KINDS for place in PLACES
        }
        self._tables = sa.MetaData()
        self._tables.reflect(self.engine)
        self._set_up_inventories()
        self._inventories = self._read('inventories')
        self._written = sa.select(
            *(
                sa.exists(sa.select(1).select_from(self._tables.tables[name])).label(name)
                for name in _EMPTIED
            )
        )
        self._prepared: dict[Any, tuple[Rows, Any]] = {}

    def _register(self, kind: Kind, place: str) -> int:
        number = PLACES.index(place) + 1
        if kind is HOSTS:
            draft = ResourceDraft(resource_type=kind.resource_type, name=f'compute-{number}')
        else:
            stock = [
                Inventory(resource_class=name, total=_PLENTY) for name in (kind.disk, kind.cores)
            ]
            draft = ResourceDraft(
                resource_type=kind.resource_type, name=f'rig-{number}', inventories=tuple(stock)
            )
        return self.service.registrar.register_resource(draft)

    def _set_up_inventories(self) -> None:
        table = self._tables.tables['inventories']
        with self.engine.begin() as connection:
            for (_, place), resource_id in self.ids.items():
                for kind in KINDS:
                    for name, total in (
                        (kind.disk, ROOM if place == 'contested' else _ELSEWHERE),
                        (kind.cores, _PLENTY),
                    ):
                        connection.execute(
                            sa.update(table)
                            .where(
                                table.c.resource_id == resource_id, table.c.resource_class == name
                            )
                            .values(total=total, reserved=0, allocation_ratio=1, max_unit=_PLENTY)
                        )

    # -- rows

    def _read(self, name: str) -> tuple[Mapping[str, Any], ...]:
        table = self._tables.tables[name]
        columns = [column for column in table.columns if column.computed is None]
        with self.engine.connect() as connection:
            return tuple(dict(row) for row in connection.execute(sa.select(*columns)).mappings())

    def prepared(
        self, key: Any, open_: Iterable[int], prepare: Callable[[], Any]
    ) -> tuple[Rows, Any]:
        """Return the rows that *prepare* writes, and its result; runs it once per key.

        :param open_: the resources that are enabled while it runs
        """
        if key not in self._prepared:
            self.restore((), open_)
            result = prepare()
            self._prepared[key] = ({name: self._read(name) for name in _EMPTIED}, result)
        return self._prepared[key]

    def restore(self, prepared: Iterable[Rows], open_: Iterable[int]) -> None:
        """Reset the database to prepared rows only.

        :param open_: the resources that are enabled for bookings
        """
        tables = self._tables.tables
        resources = tables['resources']
        here = sorted(self.ids.values())
        with self.engine.begin() as connection:
            written = connection.execute(self._written).mappings().one()
            for name in _EMPTIED:
                if written[name]:
                    connection.execute(sa.delete(tables[name]))
            self._restock(connection)
            connection.execute(
                sa.update(resources)
                .where(resources.c.id.in_(here))
                .values(
                    reservable=True,
                    deleted=0,
                    failed_at=None,
                    # Offers are searched for in memory, which follows the generations.
                    generation=resources.c.generation + 1,
                    disabled=resources.c.id.not_in(list(open_)),
                )
            )
            for rows in prepared:
                for name in reversed(_EMPTIED):
                    if rows[name]:
                        connection.execute(sa.insert(tables[name]), rows[name])

    def _restock(self, connection: sa.Connection) -> None:
        table = self._tables.tables['inventories']
        mine = {tuple(row.items()) for row in self._inventories}
        columns = [table.c[name] for name in self._inventories[0]]
        there = {tuple(row.items()) for row in connection.execute(sa.select(*columns)).mappings()}
        if there != mine:
            connection.execute(sa.delete(table))
            connection.execute(sa.insert(table), self._inventories)

    def level(self, kind: Kind, total: int) -> None:
        """Set the total of the scarce class of all resources of a kind, without bookings."""
        table = self._tables.tables['inventories']
        ids = [self.ids[kind.name, place] for place in PLACES]
        with self.engine.begin() as connection:
            connection.execute(
                sa.update(table)
                .where(table.c.resource_id.in_(ids), table.c.resource_class == kind.disk)
                .values(total=total)
            )

    # -- changes by managers

    def begin(self, lease_id: str) -> None:
        """Make a lease active, as a manager does."""
        changes = (
            "UPDATE leases SET status = 'ACTIVE' WHERE id = :lease",
            "UPDATE reservations SET status = 'active' WHERE lease_id = :lease",
            "UPDATE allocations SET state = 'held' WHERE reservation_id IN"
            ' (SELECT id FROM reservations WHERE lease_id = :lease)',
            "UPDATE events SET state = 'DONE' WHERE lease_id = :lease"
            " AND kind IN ('prepare', 'before_start_lease', 'start_lease')",
        )
        with self.engine.begin() as connection:
            for change in changes:
                connection.execute(sa.text(change), {'lease': lease_id})
