# SPDX-License-Identifier: Apache-2.0

"""The service in one process, with a clock that the benchmark of the planner moves."""

from __future__ import annotations

import datetime
import json
import pathlib
import time
from collections.abc import Callable
from collections.abc import Iterable
from typing import Any
from typing import Final

import fixtures
import sqlalchemy as sa
import webob

from benchmarks import parts
from benchmarks.processors import ProcessorClock
from climate.clock import ManualClock
from climate.cmd import composition
from climate.db.migrations import migration
from climate.db.schema import tables
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.domain.resources import ResourceDraft
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.worker import Worker
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from climate.upkeep.planning import Planner
from tests import services

NODE: Final = 'custom:node'
"""The type of the resources: leases of them change nothing in the cloud."""
NODES: Final = 144
"""How many there are in a replay."""
BEGIN: Final = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)

_HORIZON: Final = 360 * 86400
_MOMENT: Final = 0.005

_TYPES: Final = 'resource_types: [{name: "custom:node", noun: nodes}]'
_VERSION: Final = 'reservation 1.8'
_LEASES: Final = tables.LEASES
_WAITING: Final = sa.select(_LEASES.c.id, _LEASES.c.start_date).where(
    _LEASES.c.firm_at.is_not(None),
    _LEASES.c.status == LeaseStatus.PENDING,
    _LEASES.c.deleted_at.is_(None),
)

_ENDED: Final = sa.select(_LEASES.c.id, _LEASES.c.end_date).where(
    _LEASES.c.status == LeaseStatus.TERMINATED
)


class ReplayClock(ManualClock):
    """A clock whose present stands still, while processor time counts as elapsed.

    So the limits of a request are those of an idle machine.
    """

    _read_at = 0.0
    _ticks = 0.0

    def ticks(self) -> float:
        """Return the processor time of this process, in seconds, as of a moment ago."""
        # On a busy machine, a process may lose its turn when it asks for its own time.
        if time.monotonic() >= self._read_at + _MOMENT:
            self._ticks = time.process_time()
            self._read_at = time.monotonic()
        return self._ticks

    def processor(self) -> float:
        """Return the processor time of the thread, in seconds."""
        return time.thread_time()


class PlannedService(fixtures.Fixture):
    """The API, a manager and a planner on a database of their own; times in seconds.

    :ivar core: the common parts of the API and the manager
    :ivar planner: moves flexible leases on request
    :ivar used: returns the processor time so far, with that of the database
    :param resources: how many there are
    """

    def __init__(self, engine: str, resources: int, firm_before: int = 0) -> None:
        super().__init__()
        self._engine = engine
        self._resources = resources
        self._firm_before = firm_before

    def _setUp(self) -> None:
        database = self.useFixture(services.Database(self._engine))
        folder = self.useFixture(fixtures.TempDir()).path
        conf = parts.configuration(database.url)
        declared = pathlib.Path(folder, 'types.yaml')
        declared.write_text(_TYPES, encoding='utf-8')
        conf.set_override('types_file', str(declared), group='custom')
        conf.set_override('firm_before', self._firm_before, group='planner')
        # Such events would be most of the work of the manager.
        conf.set_override('notify_before_start', [], group='manager')
        conf.set_override('minutes_before_end_lease', 0, group='manager')
        conf.set_override('check_interval', 0, group='manager')
        self.clock = ReplayClock(BEGIN)
        self.core = composition.core(conf, self.clock)
        self.addCleanup(self.core.store.close)
        migration.sync(self.core.store.engine)
        self._register()
        leases = composition.leases(self.core, lambda: None, lambda: self._cloud)
        self.planner = Planner(leases)
        self._app = parts.api(self.core)
        self._claims = ClaimKeeper(self.core.store, self.clock, 'manager', 3600.0)
        self._worker = Worker(
            self.core.store,
            self.core.plugins,
            self._cloud,
            self.core.settings,
            self._claims,
            lambda: None,
        )
        self.used: Callable[[], float] = ProcessorClock(self.core.store.engine)

    def _register(self) -> None:
        self._cloud = SimulatedCloud(':memory:', clock=self.clock)
        self.addCleanup(self._cloud.close)
        registrar = Registrar(self.core.store, self.core.plugins, self._cloud)
        for number in range(1, self._resources + 1):
            registrar.register_resource(
                ResourceDraft(resource_type=NODE, name=f'node-{number}', capabilities={})
            )

    def now(self) -> float:
        """Return the present time."""
        return seconds(self.clock.now())

    def move_to(self, time: float) -> None:
        """Let time pass."""
        self.clock.move_to(BEGIN + datetime.timedelta(seconds=time))

    def send(self, method: str, path: str, body: Any = None) -> webob.Response:
        """Send a request."""
        request = webob.Request.blank(f'/v1/{path}', method=method)
        request.headers['OpenStack-API-Version'] = _VERSION
        if body is not None:
            request.body = json.dumps(body).encode()
            request.content_type = 'application/json'
        return request.get_response(self._app)

    def book(self, nodes: int, **facts: Any) -> dict[str, Any] | None:
        """Book a lease; return None if it is refused because too little is free.

        :param facts: further fields of the request
        """
        reservation = {'resource_type': NODE, 'min': nodes, 'max': nodes}
        answer = self.send('POST', 'leases', {'name': 'a', 'reservations': [reservation], **facts})
        if answer.status_int == webob.exc.HTTPConflict.code:
            return None
        if answer.status_int != webob.exc.HTTPCreated.code:
            raise RuntimeError(answer.text)
        found: dict[str, Any] = answer.json['lease']
        return found

    def take_soonest(self, nodes: int, duration: float, earliest: float) -> float:
        """Book a lease at the soonest start that is offered; return this start."""
        reservation = {'resource_type': NODE, 'min': nodes, 'max': nodes}
        body = {
            'reservations': [reservation],
            'duration': f'{duration:.0f}s',
            'earliest': written(earliest),
            'latest': written(earliest + _HORIZON),
            'limit': 1,
        }
        answer = self.send('POST', 'offers', body)
        if answer.status_int != webob.exc.HTTPOk.code:
            raise RuntimeError(answer.text)
        (offer,) = answer.json['offers']
        answer = self.send('POST', 'leases', {'name': 'a', 'offer_id': offer['id']})
        if answer.status_int != webob.exc.HTTPCreated.code:
            raise RuntimeError(answer.text)
        # A project has so many offers at most, those included that it has taken.
        self.send('DELETE', f'offers/{offer["id"]}')
        return read(answer.json['lease']['start_date'])

    def end(self, lease_id: str) -> None:
        """End a lease that is active."""
        answer = self.send('PUT', f'leases/{lease_id}', {'end_date': 'now'})
        if answer.status_int != webob.exc.HTTPOk.code:
            raise RuntimeError(answer.text)

    def due(self) -> float | None:
        """Return when a manager has something to do next; None if it has nothing."""
        with self.core.store.reading() as tx:
            due = tx.claims.next_due()
        return None if due is None else seconds(due)

    def work(self) -> list[Lease]:
        """Do what is due, as a manager would; return the leases that it was done for."""
        done: list[str] = []
        while self._is_due() and (found := self._claims.take(64)):
            for lease_id in found:
                self._worker.work(lease_id)
                self._claims.forget(lease_id)
            done += found
        return self._leases(dict.fromkeys(done)) if done else []

    def _is_due(self) -> bool:
        due = self.due()
        return due is not None and due <= self.now()

    def _leases(self, ids: Iterable[str]) -> list[Lease]:
        with self.core.store.reading() as tx:
            return tx.leases.with_ids(list(ids))

    def waiting(self) -> dict[str, float]:
        """Return the starts of the flexible leases that have not begun, by id."""
        with self.core.store.reading() as tx:
            return {row.id: seconds(row.start_date) for row in tx.session.execute(_WAITING)}

    def ended(self) -> dict[str, float]:
        """Return the ends of the leases that have ended, by id."""
        with self.core.store.reading() as tx:
            return {row.id: seconds(row.end_date) for row in tx.session.execute(_ENDED)}


def seconds(time: datetime.datetime) -> float:
    """Return a time in seconds from the begin."""
    return (time - BEGIN).total_seconds()


def read(text: str) -> float:
    """Return a time that a response has, in seconds from the begin."""
    return seconds(datetime.datetime.fromisoformat(text))


def written(time: float) -> str:
    """Return a time as a request has it."""
    return f'{BEGIN + datetime.timedelta(seconds=time):%Y-%m-%dT%H:%M:%SZ}'
