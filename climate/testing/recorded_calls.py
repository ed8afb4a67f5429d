# SPDX-License-Identifier: Apache-2.0

"""Records the state of the deployment at each call of a scenario.

A call that another scenario makes in the same state, after the same calls of the same
effect, fails there in the same way, so it does not have to fail here again. The state
consists of the rows that an effect can see, of the events in progress, of the contents of
the cloud, and of the failures already set. Ids and instants that relate to each other in
the same way are interchangeable.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import hashlib
import re
from collections.abc import Callable
from collections.abc import Iterable
from typing import Any

import fixtures

from climate.simulator.runner import VerbRunner
from climate.testing.restorable import RestorableDeployment

_ID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{32}\b')
# In the format of Climate, and in that of the simulated cloud (seconds since 1970).
_INSTANT = re.compile(
    r'(?P<text>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?)|\b(?P<number>1[89]\d{8}\.\d+)'
)
# Instants further away, in seconds, are not distinguished: every deadline is nearer.
_FAR = 60
_COLUMNS = {
    'leases': 'id, status, degraded, start_date, end_date, trust_id',
    'reservations': 'id, position, resource_type, status, request, facts, part_of',
    'allocations': 'reservation_id, resource_id, resource_class, amount, state, live',
    'trusts': 'id, lease_id',
    'resources': 'id, resource_type, reservable, disabled, deleted',
    "events WHERE state = 'IN_PROGRESS'": 'kind, attempts',
}
# An id is distinguished from others by its neighbors, up to a distance of three.
_STEPS = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordedCall:
    """A call, and the state in which it was made.

    :ivar key: equal for equal calls in equal states
    """

    verb: str
    key: str


class CallRecorder(fixtures.Fixture):
    """Records each call to the cloud, until it is cleaned up.

    :ivar calls: the recorded calls, in order
    """

    def __init__(self, site: RestorableDeployment) -> None:
        super().__init__()
        self._site = site
        self._recording = False
        self._rows = ''
        self._path: tuple[str, ...] = ()
        self.calls: list[RecordedCall] = []

    def _setUp(self) -> None:
        real = VerbRunner.run

        def run(runner: VerbRunner, verb: str, arguments: Any, work: Callable[..., Any]) -> Any:
            # Recording the state makes calls as well.
            if not self._recording:
                self._recording = True
                try:
                    self._record(verb, arguments)
                finally:
                    self._recording = False
            return real(runner, verb, arguments, work)

        self.useFixture(fixtures.MonkeyPatch('climate.simulator.runner.VerbRunner.run', run))

    def _record(self, verb: str, arguments: Any) -> None:
        now = self._site.clock.now()
        rows = [_timeless(row, now) for row in _rows(self._site)]
        cloud = [_timeless(row, now) for row in _cloud(self._site)]
        names = _names([*rows, *cloud])
        written = _digest(sorted(_named(row, names) for row in rows))
        if written != self._rows:
            # Another effect, or another step of it, begins.
            self._rows, self._path = written, ()
        call = verb + _named(_timeless(repr(arguments), now), names)
        everything = sorted(_named(row, names) for row in [*rows, *cloud])
        self.calls.append(RecordedCall(verb=verb, key=_digest([*everything, *self._path, call])))
        self._path = (*self._path, call)


def _rows(site: RestorableDeployment) -> list[str]:
    with site.store.engine.connect() as connection:
        file: Any = connection.connection.driver_connection
        return [
            f'{table}{tuple(row)!r}'
            for table, columns in _COLUMNS.items()
            for row in file.execute(f'SELECT {columns} FROM {table}')  # noqa: S608  our own names
        ]


def _cloud(site: RestorableDeployment) -> list[str]:
    contents = site.cloud.contents()
    rows = [f'{table}{row!r}' for table, content in contents.items() for row in content]
    return [*rows, *map(repr, site.cloud.faults())]


def _timeless(row: str, now: datetime.datetime) -> str:
    """Replace each instant with its distance from now."""

    def away(match: re.Match[str]) -> str:
        if match['text']:
            instant = datetime.datetime.fromisoformat(match['text']).replace(tzinfo=datetime.UTC)
            seconds = (instant - now).total_seconds()
        else:
            seconds = float(match['number']) - now.timestamp()
        if abs(seconds) > _FAR:
            return '<later>' if seconds > 0 else '<earlier>'
        return f'<{seconds:+.1f}>'

    return _INSTANT.sub(away, row)


def _names(rows: Iterable[str]) -> dict[str, str]:
    """Return a name for each id that depends only on the rows that contain it."""
    rows = list(rows)
    names = {each: '#' for row in rows for each in _ID.findall(row)}
    for _ in range(_STEPS):
        places = collections.defaultdict(list)
        for row in rows:
            for each in set(_ID.findall(row)):
                places[each].append(_named(row, {**names, each: '@'}))
        names = {each: _digest([names[each], *sorted(places[each])]) for each in names}
    return names


def _named(row: str, names: dict[str, str]) -> str:
    return _ID.sub(lambda match: names.get(match[0], match[0]), row)


def _digest(parts: Iterable[str]) -> str:
    return hashlib.blake2b('\n'.join(parts).encode(), digest_size=8).hexdigest()
