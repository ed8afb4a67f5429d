# SPDX-License-Identifier: Apache-2.0
"""Processes that send requests at the same instant, each to an API of its own."""

from __future__ import annotations

import atexit
import dataclasses
import gc
import multiprocessing
import os
import time
import types
from collections.abc import Mapping
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from oslo_config import cfg

from climate import exceptions
from climate.booking.requests.context import Context
from climate.clock import SystemClock
from climate.cmd import composition
from climate.cmd import config
from climate.cmd.composition import Core
from climate.resources.registrar import Registrar
from climate.simulator import SimulatedCloud
from climate.testing import connection
from climate.testing.deployment import Bus
from climate.testing.managers import SteppedManager
from climate.upkeep.planning import Planner
from climate.upkeep.rehoming import Rehoming
from tests.functional import http

COUNT = 16
_SECONDS = 180.0
_NO_OPTIONS: Mapping[str, Any] = {}

_context = multiprocessing.get_context('forkserver')


@dataclasses.dataclass(frozen=True, kw_only=True)
class Request:
    """One request; LET_GO, PLAN, HEAL and WORK are what a manager does.

    WORK is about leases that are due, for as many seconds as the path says.
    """

    method: str
    path: str
    body: Any = None
    token: str = http.ADMIN
    version: str = '1.1'
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer to a request."""

    status: int
    body: str = ''
    tag: str = ''


def configuration(url: str, options: Mapping[str, Any] = _NO_OPTIONS) -> cfg.ConfigOpts:
    """Return the configuration of a service on the database at *url*.

    :param options: values by group and name, such as ``planner.firm_before``
    """
    conf = config.new_conf()
    conf([], project='climate', default_config_files=[])
    connection.use(conf, url)
    conf.set_override('auth_strategy', 'noauth')
    conf.set_override('transport_url', 'fake://')
    # Processes share no threads, and do not wait for each other.
    conf.set_override('project_share', 1.0, group='api')
    conf.set_override('per_project', '', group='rate_limit')
    conf.set_override('per_address', '', group='rate_limit')
    # That of administrators has as many as a test wants.
    conf.set_override('override', ['ops: leases=0'], group='limits')
    for name, value in options.items():
        group, _, option = name.partition('.')
        conf.set_override(option, value, group=group)
    return conf


class Racers:
    """Sixteen processes; they share nothing but the database and the cloud."""

    def __init__(self) -> None:
        # The modules are imported once, and the processes are made of that, among them the
        # solver, which an API imports late. Each would take 75 MB for a copy of it.
        _context.set_forkserver_preload([__name__, 'ortools.sat.python.cp_model'])
        # Kept: a child finds it by its name only as long as it is known here.
        self._barrier = _context.Barrier(COUNT)
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(COUNT):
            ours, theirs = _context.Pipe()
            process = _context.Process(target=_run, args=(theirs, self._barrier), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def open(self, url: str, directory: str, options: Mapping[str, Any] = _NO_OPTIONS) -> None:
        """Have each make its API on the database at *url*."""
        self._all([('open', (url, directory, options))] * COUNT)

    def race(self, requests: Sequence[Sequence[Request]]) -> list[list[int]]:
        """Have each send its requests, the first at the same instant; return the status codes."""
        return [[answer.status for answer in mine] for mine in self.answers(requests)]

    def answers(self, requests: Sequence[Sequence[Request]]) -> list[list[Answer]]:
        """Do the same, and return the answers."""
        idle: list[Sequence[Request]] = [()] * (COUNT - len(requests))
        return self._all([('race', list(mine)) for mine in [*requests, *idle]])[: len(requests)]

    def _all(self, messages: Sequence[tuple[str, Any]]) -> list[Any]:
        for pipe, message in zip(self._pipes, messages, strict=True):
            pipe.send(message)
        answers = []
        for pipe in self._pipes:
            if not pipe.poll(_SECONDS):
                raise AssertionError('a process does not answer')
            answers.append(pipe.recv())
        return answers

    def close(self) -> None:
        """End them."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(timeout=5)


_racers: list[Racers] = []


def racers() -> Racers:
    """Return those of this process, started when first asked for."""
    if not _racers:
        _racers.append(Racers())
        atexit.register(_racers[0].close)
    return _racers[0]


def _run(pipe: Connection, barrier: Any) -> None:
    # A collection would write to every object, and so copy all that the processes share.
    gc.freeze()
    service: _Service | None = None
    while True:
        try:
            command, value = pipe.recv()
        except EOFError:
            return
        if command == 'open':
            if service is not None:
                service.close()
            service = _Service(*value)
            pipe.send(None)
        else:
            assert service is not None
            barrier.wait(_SECONDS)
            pipe.send([service.send(request) for request in value])


def _context_of(core: composition.Core) -> Context:
    return Context(core.store, core.plugins, core.clock, core.settings, lambda: None)


class _Service:
    """An API, and the part of a manager that lets hosts go."""

    def __init__(self, url: str, directory: str, options: Mapping[str, Any]) -> None:
        self._core = composition.core(configuration(url, options), SystemClock())
        absent: Any = None
        self._app = composition.api(self._core, registry=absent, wake=lambda _: None, health={})
        self._cloud = SimulatedCloud(directory, clock=self._core.clock)
        self._registrar = Registrar(self._core.store, self._core.plugins, self._cloud)
        self._planner = Planner(_context_of(self._core))
        self._healing = Rehoming(self._core.store, self._core.plugins, self._core.settings)
        parts: Any = types.SimpleNamespace(
            **{field.name: getattr(self._core, field.name) for field in dataclasses.fields(Core)},
            cloud=self._cloud,
            managed=self._cloud,
            bus=Bus(),
        )
        self._manager = SteppedManager(parts, str(os.getpid()), batch=100)

    def send(self, request: Request) -> Answer:
        """Send a request; return the answer."""
        if request.method == 'LET_GO':
            try:
                self._registrar.delete_resource(int(request.path))
            except exceptions.ClimateError as error:
                return Answer(status=error.code)
            return Answer(status=204)
        if request.method == 'PLAN':
            return Answer(status=200, body=str(self._planner.round()))
        if request.method == 'HEAL':
            return Answer(status=200, body=str(self._healing.round(self._cloud)))
        if request.method == 'WORK':
            return Answer(status=200, body=str(self._work(float(request.path))))
        facts = {'version': request.version, 'headers': dict(request.headers)}
        what = (request.method, request.path, request.body)
        answer = http.send(self._app, *what, token=request.token, **facts)
        return Answer(
            status=int(answer.status_int), body=answer.text, tag=answer.headers.get('ETag', '')
        )

    def _work(self, seconds: float) -> int:
        """Look for so long after what is due; return how many leases were."""
        end, found = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            due = self._manager.look()
            found += len(due)
            if not due:
                time.sleep(0.05)
        return found

    def close(self) -> None:
        """Let go of everything."""
        self._core.store.close()
        self._cloud.close()
