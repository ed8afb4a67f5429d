# SPDX-License-Identifier: Apache-2.0
"""Measures what one project costs another, on the installation of the install page.

A member of one project sends each of the most expensive kinds of request, 16 at a time, and a
member of another project creates, lists and deletes leases before, meanwhile and afterwards.
Then 200 connections without a token take the place of the first member. The ratios compare
meanwhile with before and afterwards, in the same run.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import datetime
import http.client
import json
import pathlib
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from rich import box
from rich import console
from rich.table import Table
from rich.text import Text

from benchmarks import engines
from benchmarks import neighbours_requests as requests
from benchmarks import neighbours_servers as servers
from benchmarks import parts
from benchmarks.figures import Figure
from benchmarks.figures import gathered
from benchmarks.figures import quantile
from climate.clock import SystemClock
from tests import services

ACTIONS: Final = ('create', 'list', 'delete')
BARS: Final = {0.5: 3.0, 0.99: 5.0}
"""How much longer another member's request may take: by share of the requests."""

_ADDRESS: Final = '127.0.0.3'
_TIMEOUT: Final = 120.0
_OK: Final = {'create': 201, 'list': 200, 'delete': 204}
_UNKNOWN: Final = ('dripping heads', 'dripping bodies', 'idle connections')
_SETTLES: Final = 1.0


@dataclasses.dataclass(kw_only=True, slots=True)
class Times:
    """The durations of the neighbour's requests by action, in milliseconds."""

    of: dict[str, list[float]] = dataclasses.field(
        default_factory=lambda: {action: [] for action in ACTIONS}
    )
    failed: dict[str, int] = dataclasses.field(default_factory=collections.Counter)


class Neighbour:
    """A member who creates, lists and deletes a lease again and again."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._rng = random.Random(7)

    def work(self, seconds: float, least: int) -> Times:
        """Work for so long; at least so many rounds."""
        found = Times()
        until, rounds = time.perf_counter() + seconds, 0
        while rounds < least or time.perf_counter() < until:
            self._round(found)
            rounds += 1
        return found

    def _round(self, found: Times) -> None:
        start = SystemClock().now() + datetime.timedelta(minutes=self._rng.randrange(60, 20 * 1440))
        made = self._send(found, 'create', 'POST', '/v1/leases', parts.lease_body('quiet', start))
        self._send(found, 'list', 'GET', '/v1/leases?limit=50')
        if made is not None:
            self._send(found, 'delete', 'DELETE', f'/v1/leases/{made["lease"]["id"]}')

    def _send(
        self, found: Times, action: str, method: str, path: str, body: Any = None
    ) -> dict[str, Any] | None:
        """Send a request; return the body of the response; None if it is an error."""
        headers = {
            'X-Auth-Token': requests.NEIGHBOUR,
            'Content-Type': 'application/json',
            'OpenStack-API-Version': 'reservation 1.5',
        }
        payload = None if body is None else json.dumps(body)
        began = time.perf_counter()
        connection = http.client.HTTPConnection(
            servers.HOST, self._port, timeout=_TIMEOUT, source_address=(_ADDRESS, 0)
        )
        try:
            connection.request(method, path, payload, headers)
            response = connection.getresponse()
            text, status = response.read(), response.status
        except (OSError, http.client.HTTPException) as error:
            text, status = b'', 0
            found.failed[type(error).__name__] += 1
        finally:
            connection.close()
        # A failure counts as a long response, so that it cannot make the figures better.
        took = (time.perf_counter() - began) * 1000
        found.of[action].append(took if status == _OK[action] else max(took, _TIMEOUT * 1000))
        if status != _OK[action]:
            found.failed[str(status)] += 1
            return None
        return dict(json.loads(text)) if text else {}


def main() -> int:
    """Run the benchmark; return the exit status."""
    options = _parser().parse_args()
    rows: list[tuple[str, Figure]] = []
    engine = options.engine
    with tempfile.TemporaryDirectory() as name, services.Database(engine) as database:
        folder = pathlib.Path(name)
        servers.prepare(folder, database.url, options.hosts)
        with servers.installation(folder, proxied=not options.without_proxy) as port:
            for task, what in _tasks(options):
                sys.stderr.write(f'{what}\n')
                figures = gathered(_measured(engines.NAMES[engine], port, task, options))
                rows += [(what, figure) for figure in figures]
    _show(rows, as_json=options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--engine', choices=services.DATABASES, default=services.MARIADB, help='the database'
    )
    parser.add_argument('--seconds', type=float, default=6.0, help='duration of each phase')
    parser.add_argument('--least', type=int, default=20, help='rounds of each phase, at least')
    parser.add_argument('--hosts', type=int, default=100, help='number of hosts')
    parser.add_argument('--at-once', type=int, default=16, help='requests of the first member')
    parser.add_argument('--tokens', type=int, default=16, help='how many tokens it uses')
    parser.add_argument('--unknown', type=int, default=200, help='connections without a token')
    parser.add_argument('--without-proxy', action='store_true', help='without nginx')
    parser.add_argument('--only', help='measure the kinds whose name contains this')
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    return parser


def _tasks(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield what the load does, and its name."""
    for kind in requests.kinds(SystemClock().now(), options.hosts):
        if options.only is None or options.only in kind.name:
            task = {
                'at_once': options.at_once,
                'tokens': requests.tokens(options.tokens),
                'method': kind.method,
                'path': kind.path,
                'headers': kind.headers,
                'body': kind.payload.decode(),
            }
            yield task, kind.name
    for what in _UNKNOWN:
        if options.only is None or options.only in what:
            yield {'at_once': options.unknown, 'unknown': what}, what


def _measured(
    engine: str, port: int, task: Mapping[str, Any], options: argparse.Namespace
) -> Iterator[Figure]:
    neighbour = Neighbour(port)
    child = parts.Child('benchmarks.neighbours_client', servers.HOST, port)
    try:
        child.answer()
        neighbour.work(0, 3)
        before = neighbour.work(options.seconds, options.least)
        child.send(json.dumps(task))
        child.answer()
        time.sleep(_SETTLES)
        meanwhile = neighbour.work(2 * options.seconds, options.least)
        child.send()
        counted = child.answer()
        time.sleep(_SETTLES)
        after = neighbour.work(options.seconds, options.least)
    finally:
        child.close()
    sys.stderr.write(f'  responses: {counted}; failures of the neighbour: {meanwhile.failed}\n')
    for action in ACTIONS:
        for share, bar in BARS.items():
            phases = [quantile(each.of[action], share) for each in (before, meanwhile, after)]
            usual = quantile([*before.of[action], *after.of[action]], share)
            yield Figure(
                engine=engine,
                what=f'{action}, p{share * 100:.0f}',
                value=phases[1] / usual,
                unit='x',
                aim=bar,
                samples=tuple(phases),
            )


def _show(rows: list[tuple[str, Figure]], *, as_json: bool) -> None:
    """Print each kind of request in a row: before, meanwhile, afterwards and the ratio."""
    if as_json:
        plain = [{**dataclasses.asdict(figure), 'kind': kind} for kind, figure in rows]
        print(json.dumps(plain))
        return
    made = Table(box=box.SIMPLE_HEAD)
    made.add_column('meanwhile')
    for action in ACTIONS:
        for share in BARS:
            made.add_column(f'{action} p{share * 100:.0f}', justify='right', no_wrap=True)
    by_kind: dict[str, list[Figure]] = collections.defaultdict(list)
    for kind, figure in rows:
        by_kind[kind].append(figure)
    for kind, figures in by_kind.items():
        made.add_row(kind, *map(_cell, figures))
    print('Milliseconds before > meanwhile > afterwards, and the ratio')
    console.Console(width=None if sys.stdout.isatty() else 200).print(made)


def _cell(figure: Figure) -> Text:
    phases = ' > '.join(f'{each:.0f}' for each in figure.samples)
    mark = '!' if figure.missed else ''
    return Text(f'{phases} x{figure.value:.1f}{mark}', style='bold red' if mark else '')


if __name__ == '__main__':
    sys.exit(main())
