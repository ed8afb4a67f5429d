# SPDX-License-Identifier: Apache-2.0

"""Compares the answers of two source trees to the same requests, byte by byte.

Each tree has a process with its API and a database of its own. Ids and the times of today
are replaced by their order of appearance before the comparison.

One difference is intended: before 1.4, answers to changes of dates lacked the new
``created_at`` and ``updated_at`` of events. The ``GET`` behind each change shows the same.
"""

from __future__ import annotations

import datetime
import itertools
import re
import sys
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import NamedTuple

from benchmarks import against_trees

VERSIONS = ('1.0', '1.1', '1.2', '1.3')
_HOSTS = 6
_MEMBER = 'alice:blue:member'
_ADMIN = 'root:ops:admin'
_HEADERS = ('Content-Type', 'Content-Length', 'Vary', 'OpenStack-API-Version', 'Location', 'ETag')
_ID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
_TODAY = re.compile(rf'{datetime.datetime.now(datetime.UTC):%Y-%m-}\d\d[T ][0-9:.]+Z?')
_HOST: dict[str, Any] = {
    'resource_type': 'physical:host',
    'min': 1,
    'max': 1,
    'hypervisor_properties': '',
    'resource_properties': '',
}
_INSTANCE: dict[str, Any] = {
    'resource_type': 'virtual:instance',
    'amount': 2,
    'vcpus': 1,
    'memory_mb': 512,
    'disk_gb': 1,
    'affinity': None,
    'resource_properties': '',
}


class Request(NamedTuple):
    """A request; ``{0}`` in its path is the id of the first lease, ``{-1}`` of the last."""

    method: str
    path: str
    body: Any
    version: str
    token: str = _ADMIN


def differences(
    trees: Sequence[against_trees.Tree], engine: str
) -> Iterator[tuple[Request, list[str]]]:
    """Yield each request, with the normalized answers if they differ."""
    with against_trees.started(engine, trees, against_trees.load(_HOSTS, 0)) as found:
        sides = [_Side(process) for process, _ in found]
        for request in _requests():
            answers = [side.answer(request) for side in sides]
            yield request, answers if answers[0] != answers[1] else []


def main(trees: Sequence[against_trees.Tree], engines: Sequence[str]) -> int:
    """Print the requests whose answers differ; return the exit status."""
    differ = 0
    for engine in engines:
        count = 0
        for request, answers in differences(trees, engine):
            count += 1
            if answers:
                differ += 1
                sys.stdout.write(f'{engine}: {request}\n  old {answers[0]}\n  new {answers[1]}\n')
        sys.stdout.write(f'{engine}: {count} requests\n')
    sys.stdout.write(f'{differ} answers differ\n')
    return 1 if differ else 0


class _Side:
    """One of the trees, and the leases that it has made."""

    def __init__(self, process: against_trees.Process) -> None:
        self._process = process
        self._leases: list[str] = []
        self._known: dict[str, str] = {}

    def answer(self, request: Request) -> str:
        """Send a request, and return the status, headers and body of the answer."""
        path = re.sub(r'\{(-?\d+)\}', lambda match: self._leases[int(match[1])], request.path)
        status, headers, text = self._process.ask('send', *request._replace(path=path))
        if request.method == 'POST' and status == 201:
            # In the text, the first id of a lease is its own or that of a part of it.
            self._leases.append(re.findall(r'"id": "([^"]*)", "name"', text)[0])
        shown = {name: headers[name] for name in _HEADERS if name in headers}
        whole = _ID.sub(lambda match: self._named(match[0]), f'{status} {shown} {text}')
        return _TODAY.sub('today', whole)

    def _named(self, text: str) -> str:
        return self._known.setdefault(text, f'id-{len(self._known)}')


def _requests() -> Iterator[Request]:
    for number, version in enumerate(VERSIONS):
        yield from _leases(version, 30 * number)
        for body in _bad(version):
            yield Request('POST', '/v1/leases', body, version)
        for path in _paths(version):
            for token in (_ADMIN, _MEMBER):
                yield Request('GET', path, None, version, token)
    for version in VERSIONS:
        yield Request('DELETE', '/v1/leases/{-1}', None, version)
        yield Request('DELETE', '/v1/leases/{-1}', None, version)


def _dates(version: str, day: int) -> dict[str, str]:
    # Not this month, whose dates are replaced before the comparison.
    start = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=40 + day)
    wanted = '{} 12:00' if version == '1.0' else '{}T12:00:00Z'
    end = start + datetime.timedelta(days=1)
    return {'start_date': wanted.format(start), 'end_date': wanted.format(end)}


def _leases(version: str, first: int) -> Iterator[Request]:
    """Yield requests for leases of all shapes, and for changes of them."""
    shapes = (
        [_HOST],
        [{**_HOST, 'max': 3, 'resource_properties': '["==", "$rack", "r1"]'}],
        [_INSTANCE],
        [_HOST, _INSTANCE],
        [_HOST] * 3,
        [{**_HOST, 'min': 99, 'max': 99}],
        [{**_INSTANCE, 'amount': 10_000}],
    )
    for day, (reservations, token) in enumerate(itertools.product(shapes, (_ADMIN, _MEMBER)), 1):
        body = {
            'name': f'"é" <& \\ {version} {day}',
            **_dates(version, first + day),
            'events': [],
            'reservations': reservations,
        }
        yield Request('POST', '/v1/leases', body, version, token)
    later = _dates(version, first + 25)
    changes: tuple[dict[str, Any], ...] = (
        {'name': 'new'},
        {'end_date': later['end_date']},
        {'start_date': later['start_date']},
        {'before_end_date': later['start_date']},
        {'reservations': []},
        {},
        {'x': 1},
    )
    for change in changes:
        for place in (-1, -2):
            path = f'/v1/leases/{{{place}}}'
            yield Request('PUT', path, change, version)
            # Whether the answer shows what the change has written.
            yield Request('GET', path, None, version)


def _bad(version: str) -> Iterator[Any]:
    """Yield bodies that are refused, each for one reason."""
    good = {'name': 'bad', **_dates(version, 200), 'events': [], 'reservations': [_HOST]}
    for key in good:
        yield {name: value for name, value in good.items() if name != key}
        for value in (None, '', 7, [], [1], {'a': 1}, 'x' * 300, 'now', '2001-01-01 00:00'):
            yield {**good, key: value}
    for key in _HOST:
        for value in (None, -1, 'x', [], {}):
            yield {**good, 'reservations': [{**_HOST, key: value}]}
    yield {**good, 'extra': True}
    yield []
    yield 'text'


def _paths(version: str) -> Iterator[str]:
    """Yield the paths of questions."""
    yield from ('/v1/leases', '/v1/leases/{0}', '/v1/leases/{-1}', '/v1/leases/{-2}')
    yield from ('/v1/leases/none', f'/v1/leases/{"0" * 8}-0000-0000-0000-{"0" * 12}', '/v1/none')
    yield from ('/v1/os-hosts', '/v1/os-hosts/1', '/v1/os-hosts/99', '/v1/os-hosts/properties')
    for query in (
        *('limit=1', 'limit=2&sort_key=name', 'sort=name:desc', 'status=PENDING', 'marker={0}'),
        *('name=new', 'resource_type=virtual:instance', 'limit=x', 'none=1', 'project_id=blue'),
    ):
        yield f'/v1/leases?{query}'
    if version == '1.3':
        yield '/v1/leases/{-1}/history'
