# SPDX-License-Identifier: Apache-2.0

"""Shows the files of Climate that one request or one event passes through.

``python -m tools.ways`` creates a lease over HTTP (``--kind post``) up to the first
``INSERT INTO leases``, or lets a manager start one alone (``--kind start``) up to the first
call to the cloud. It prints the files entered, in order, with the number of calls and of
changes of file. Everything runs in this process: the WSGI application, SQLite, and the
simulated cloud.

A call is the start of a function that ``climate/`` defines. A change of file is a call in
another file than the previous call. The simulated cloud does not count, because it
represents Nova. A lease of the same kind runs first, so that no imports or caches are
recorded. A create uses the clock of the machine, as in production; a start uses a clock
that the program moves to it.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import datetime
import gc
import inspect
import json
import pathlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from http import HTTPStatus
from types import CodeType
from types import FrameType
from typing import Any
from typing import Final

import sqlalchemy as sa
import webob
from oslo_config import cfg

from climate.clock import Clock
from climate.clock import ManualClock
from climate.clock import SystemClock
from climate.cmd import composition
from climate.cmd import config
from climate.cmd import samples
from climate.db.engine import addresses
from climate.db.migrations import migration
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.worker import Worker
from climate.simulator import SimulatedCloud

ROOT: Final = pathlib.Path(__file__).parents[1]
PACKAGE: Final = f'{ROOT / "climate"}/'
SIMULATOR: Final = f'{PACKAGE}simulator/'
NOW: Final = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
HOUR: Final = datetime.timedelta(hours=1)

_RESERVATIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    'physical:host': {'min': 1, 'max': 1, 'hypervisor_properties': '', 'resource_properties': ''},
    'virtual:instance': {
        'amount': 1,
        'vcpus': 1,
        'memory_mb': 1024,
        'disk_gb': 1,
        'affinity': None,
        'resource_properties': '',
    },
    'network': {'network_name': 'reserved', 'resource_properties': ''},
    'physical:storage': {'min': 1, 'max': 1},
    'custom:rack': {'amount': 1},
}
"""The request for a reservation of each type."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """The calls of one request or event.

    :ivar calls: the file of each call, relative to ``climate/``, in order
    :ivar arrived: whether the end of the way was reached
    """

    calls: tuple[str, ...]
    arrived: bool

    @property
    def files(self) -> tuple[str, ...]:
        """The files, in the order of their first calls."""
        return tuple(dict.fromkeys(self.calls))

    @property
    def changes(self) -> tuple[tuple[str, str], ...]:
        """The changes of file, as pairs of the old and the new file."""
        pairs = zip(self.calls, self.calls[1:], strict=False)
        return tuple(pair for pair in pairs if pair[0] != pair[1])


class Recorder:
    """Records each call of this thread, until :meth:`arrive` is called."""

    def __init__(self) -> None:
        self._calls: list[str] = []
        self._generators: dict[int, FrameType] = {}
        self._names: dict[CodeType, str | None] = {}
        self._arrived = False

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Record the calls within the block, except those of the garbage collector."""
        gc.disable()
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            gc.enable()

    def arrive(self) -> None:
        """End the way here."""
        self._arrived = True

    @property
    def way(self) -> Way:
        """The recorded way."""
        return Way(calls=tuple(self._calls), arrived=self._arrived)

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != 'call' or self._arrived:
            return
        name = self._name(frame.f_code)
        if name is None or self._is_resumed(frame):
            return
        self._calls.append(name)

    def _is_resumed(self, frame: FrameType) -> bool:
        """Whether a generator is resumed, which is not a new call."""
        if not frame.f_code.co_flags & inspect.CO_GENERATOR:
            return False
        # Keep the frame, so that no later frame gets the same id.
        known = id(frame) in self._generators
        self._generators[id(frame)] = frame
        return known

    def _name(self, code: CodeType) -> str | None:
        """Return the file of a function of Climate; None for other code."""
        if code not in self._names:
            name = None
            path = code.co_filename
            if path.startswith(PACKAGE) and not path.startswith(SIMULATOR):
                name = None if code.co_name == '<module>' else path.removeprefix(PACKAGE)
            self._names[code] = name
        return self._names[code]


class WatchedCloud:
    """A cloud that reports calls.

    It implements :class:`climate.cloud.base.Cloud` by delegating every call.

    :param called: called before each call of a service
    """

    def __init__(self, target: Any, called: Any, *, service: bool = False) -> None:
        self._target = target
        self._called = called
        self._service = service

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if self._service:
            self._called()
            return found
        if callable(found):
            return lambda *given, **named: WatchedCloud(found(*given, **named), self._called)
        return WatchedCloud(found, self._called, service=True)


class Service:
    """The API and the worker of a manager, with their own database and simulated cloud.

    :param folder: the directory of the database
    """

    def __init__(self, folder: pathlib.Path, clock: Clock) -> None:
        self.clock = clock
        conf = _configuration(folder)
        self.parts = composition.core(conf, self.clock)
        migration.sync(self.parts.store.engine)
        self.cloud = SimulatedCloud(':memory:', clock=self.clock)
        self.cloud.furnish(4)
        samples.register(self.parts, self.cloud)
        no_registry: Any = None
        self.application = composition.api(
            self.parts,
            registry=no_registry,
            wake=lambda _: None,
            health={},
            find_cloud=lambda: self.cloud,
        )

    def close(self) -> None:
        """Close the database and the cloud."""
        self.parts.store.close()
        self.cloud.close()

    def post(self, resource_type: str, name: str, recorder: Recorder | None = None) -> str:
        """Create a lease over HTTP that starts in an hour; return its id."""
        start = self.clock.now() + HOUR
        body = {
            'name': name,
            'start_date': f'{start:%Y-%m-%d %H:%M}',
            'end_date': f'{start + HOUR:%Y-%m-%d %H:%M}',
            'events': [],
            'reservations': [{'resource_type': resource_type, **_RESERVATIONS[resource_type]}],
        }
        with recorder.recording() if recorder else contextlib.nullcontext():
            answer = _requested(self.application, 'POST', '/v1/leases', body)
        found: str = answer['lease']['id']
        return found

    def watch_inserts(self, recorder: Recorder) -> None:
        """End the way of *recorder* when the row of a lease is written."""

        @sa.event.listens_for(self.parts.store.engine, 'before_cursor_execute')
        def look(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            if statement.startswith('INSERT INTO leases'):
                recorder.arrive()

    def start(self, lease_id: str, recorder: Recorder | None = None) -> None:
        """Let a manager start the lease, after all other leases that are due."""
        cloud: Any = self.cloud
        if recorder is not None:
            cloud = WatchedCloud(self.cloud, recorder.arrive)
        parts = self.parts
        claims = ClaimKeeper(parts.store, self.clock, 'ways', 60.0)
        claimed = claims.take(8)
        assert lease_id in claimed
        # The previous lease ends now, and may hold resources that this one needs.
        for other in set(claimed) - {lease_id}:
            self._worker(claims, self.cloud).work(other)
            claims.forget(other)
        worker = self._worker(claims, cloud)
        with recorder.recording() if recorder else contextlib.nullcontext():
            worker.work(lease_id)
        claims.forget(lease_id)

    def _worker(self, claims: ClaimKeeper, cloud: Any) -> Worker:
        parts = self.parts
        return Worker(
            parts.store, parts.plugins, cloud, parts.settings, claims, lambda: None, parts.filters
        )


def _configuration(folder: pathlib.Path) -> cfg.ConfigOpts:
    conf = config.new_conf()
    conf([], project='climate', default_config_files=[])
    url = addresses.of_file(folder / 'climate.sqlite')
    conf.set_override('connection', config.literal(url), group='database')
    conf.set_override('auth_strategy', 'noauth')
    conf.set_override('project_share', 1.0, group='api')
    conf.set_override('per_project', '', group='rate_limit')
    conf.set_override('per_address', '', group='rate_limit')
    conf.set_override('transport_url', 'fake://')
    types = [name for name in _RESERVATIONS if not name.startswith('custom:')]
    conf.set_override('resource_types', types)
    # A separate event for the preparation would be due before the start.
    conf.set_override('prepare_lead_time', 0, group='manager')
    conf.set_override('notify_before_start', [], group='manager')
    return conf


def _requested(application: Any, method: str, path: str, body: Mapping[str, Any]) -> Any:
    request = webob.Request.blank(
        path, method=method, content_type='application/json', json=dict(body)
    )
    answer = request.get_response(application)
    if answer.status_int != HTTPStatus.CREATED:
        raise SystemExit(f'{answer.status}: {answer.text}')
    return answer.json


def recorded(kind: str, resource_type: str) -> Way:
    """Return the way of one request (``post``) or one event (``start``)."""
    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder:
        manual = ManualClock(NOW)
        service = Service(pathlib.Path(folder), SystemClock() if kind == 'post' else manual)
        try:
            warm = service.post(resource_type, 'warm')
            if kind == 'post':
                service.watch_inserts(recorder)
                service.post(resource_type, 'way', recorder)
            else:
                manual.advance(HOUR.total_seconds())
                service.start(warm)
                lease_id = service.post(resource_type, 'way')
                manual.advance(HOUR.total_seconds())
                service.start(lease_id, recorder)
        finally:
            service.close()
    return recorder.way


def as_json(way: Way) -> str:
    """Format a way as JSON, for drawings."""
    found = {
        'files': way.files,
        'calls': len(way.calls),
        'changes': len(way.changes),
        'arrows': [[*pair, times] for pair, times in Counter(way.changes).items()],
    }
    return json.dumps(found, indent=1)


# The style of the other drawings of the documentation.
_LOOK = (
    'bgcolor=transparent; ranksep=0.3; nodesep=0.15; fontname=Helvetica;',
    'node [shape=box, style="rounded,filled", fillcolor=white, fontname=Helvetica, fontsize=11];',
    'edge [arrowsize=0.6, fontname=Helvetica, fontsize=10];',
)


def as_dot(way: Way) -> str:
    """Format a way as a graph: a box for each folder, an arrow for each change of file."""
    folders: dict[str, list[str]] = {}
    for name in way.files:
        folders.setdefault(name.rpartition('/')[0], []).append(name)
    lines = ['digraph way {', *(f'  {line}' for line in _LOOK)]
    for number, (folder, names) in enumerate(folders.items()):
        lines.append(f'  subgraph cluster_{number} {{ label="{folder or "climate"}";')
        lines += [f'    "{name}" [label="{name.rpartition("/")[2]}"];' for name in names]
        lines.append('  }')
    for (before, after), times in Counter(way.changes).items():
        label = f' [label="{times}"]' if times > 1 else ''
        lines.append(f'  "{before}" -> "{after}"{label};')
    return '\n'.join([*lines, '}'])


def as_text(way: Way) -> str:
    """Format a way as text."""
    calls = Counter(way.calls)
    return '\n'.join(
        [
            *(f'{calls[name]:5}  {name}' for name in way.files),
            f'{len(way.files)} files, {len(way.calls)} calls, {len(way.changes)} changes of file',
        ]
    )


def main() -> int:
    """Print the requested way; return the exit status."""
    parser = argparse.ArgumentParser(prog='python -m tools.ways', description=__doc__)
    parser.add_argument('--kind', choices=['post', 'start'], default='post')
    parser.add_argument('--resource-type', choices=list(_RESERVATIONS), default='physical:host')
    form = parser.add_mutually_exclusive_group()
    form.add_argument('--dot', action='store_true', help='as a graph for graphviz')
    form.add_argument('--json', action='store_true', help='as figures and arrows')
    form.add_argument('--calls', action='store_true', help='the file of each call, in order')
    options = parser.parse_args()
    way = recorded(options.kind, options.resource_type)
    if not way.arrived:
        sys.stderr.write('The end of the way was not reached\n')
        return 1
    if options.calls:
        text = '\n'.join(way.calls)
    else:
        text = (as_dot if options.dot else as_json if options.json else as_text)(way)
    sys.stdout.write(text + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
