# SPDX-License-Identifier: Apache-2.0

"""A small cloud that speaks HTTP: Keystone, Nova and Placement on 127.0.0.1.

It answers in the wire format of the real services, with their peculiarities:
short pages, a 404 for an empty search, a 409 for a host that is in an
aggregate already, a 400 for an aggregate that still has hosts. What there is
in it is kept by a simulated cloud in memory. On request it answers with an error, not
at all, or loses an answer after it has done the work.
"""

from __future__ import annotations

import dataclasses
import http.server
import json
import re
import secrets
import threading
import urllib.parse
from typing import Any

from climate import simulator
from climate.clock import SystemClock
from climate.cloud import base
from tests.contract import stub_routes
from tests.contract import stub_trusts
from tests.contract.stub_routes import Answer
from tests.contract.stub_routes import COMPUTE
from tests.contract.stub_routes import HTTPError
from tests.contract.stub_routes import PLACEMENT
from tests.contract.stub_routes import Request

IDENTITY = '/identity/v3'
NETWORK = '/network'


@dataclasses.dataclass
class Trouble:
    """What is to go wrong with requests that match.

    :ivar kind: ``status``, ``hang``, ``lose`` (after the work), ``proxy`` (a
        status from somebody before the service) or ``garbage``
    :ivar times: how often; None for ever
    """

    pattern: re.Pattern[str]
    kind: str
    times: int | None
    status: int = 0
    message: str = 'no luck today'


class StubCloud:
    """The server; use it as a context manager."""

    def __init__(self) -> None:
        self.cloud = simulator.SimulatedCloud(simulator.MEMORY, clock=SystemClock())
        self.requests: list[str] = []
        self.tokens: set[str] = set()
        self.troubles: list[Trouble] = []
        self.networks: list[str] = []
        self.hidden_hosts = False
        self.newest = 100
        self.catalog = {
            'identity': IDENTITY,
            'compute': COMPUTE,
            'placement': PLACEMENT,
            'network': NETWORK,
        }
        self._lock = threading.Lock()
        self._released = threading.Event()
        stub = self

        class Handler(_Handler):
            cloud = stub

        self._server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={'poll_interval': 0.01}, daemon=True
        )
        self.url = f'http://127.0.0.1:{self._server.server_address[1]}'

    def __enter__(self) -> StubCloud:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self.cloud.close()

    # -- what a test sets

    def trouble(
        self,
        pattern: str,
        kind: str,
        times: int | None = 1,
        *,
        status: int = 0,
        message: str = 'no luck today',
    ) -> None:
        """Let requests ``METHOD /path`` that match *pattern* go wrong."""
        self.troubles.append(Trouble(re.compile(pattern), kind, times, status, message))

    def revoke_tokens(self) -> None:
        """Forget every token, as if they had run out."""
        self.tokens.clear()

    def count(self, pattern: str) -> int:
        """Return how many requests ``METHOD /path`` matched *pattern*."""
        return sum(bool(re.search(pattern, line)) for line in self.requests)

    # -- what it does

    def handle(self, request: Request) -> tuple[int, Any, dict[str, str]] | None:
        """Return status, body and headers; None to hang up without an answer."""
        line = f'{request.method} {request.path}'
        with self._lock:
            self.requests.append(line)
            trouble = self._due(line)
        if trouble and trouble.kind == 'hang':
            self._released.wait(30)
            return None
        if trouble and trouble.kind == 'proxy':
            return trouble.status, '<html>No such page</html>', {'x-proxy': 'yes'}
        if trouble and trouble.kind == 'garbage':
            return 200, '<html>It works!</html>', {}
        try:
            if trouble and trouble.kind == 'status':
                raise HTTPError(trouble.status, trouble.message)
            status, body, headers = self._route(request)
        except HTTPError as error:
            status, body, headers = error.status, stub_routes.error_body(request, error), {}
        return None if trouble and trouble.kind == 'lose' else (status, body, headers)

    def _due(self, line: str) -> Trouble | None:
        for trouble in self.troubles:
            if trouble.pattern.search(line):
                if trouble.times is not None:
                    trouble.times -= 1
                    if not trouble.times:
                        self.troubles.remove(trouble)
                return trouble
        return None

    def _route(self, request: Request) -> tuple[int, Any, dict[str, str]]:
        path = request.path.removeprefix(IDENTITY).rstrip('/')
        if path == '' or (path == '/auth/tokens' and request.method == 'POST'):
            return self._identity(request)
        creating = f'{request.method} {request.path}' == f'POST {IDENTITY}/OS-TRUST/trusts'
        # Trusts are created with the token of another user.
        if not creating and request.headers.get('X-Auth-Token') not in self.tokens:
            raise HTTPError(401, f'no such token: {request.headers.get("X-Auth-Token")}')
        if request.path == f'{NETWORK}/v2.0/networks':
            # As little of Neutron as a test of the connection needs.
            if request.body is None:
                return 200, stub_routes.networks(self.networks, request), {}
            return 201, {'network': {'id': 'n', 'name': 'made'}}, {}
        for prefix, check, routes in (
            (IDENTITY, lambda _request: None, stub_trusts.ROUTES),
            (COMPUTE, stub_routes.check_compute, stub_routes.COMPUTE_ROUTES),
            (PLACEMENT, stub_routes.check_placement, stub_routes.PLACEMENT_ROUTES),
        ):
            if request.path.startswith(prefix):
                check(request)
                status, body = self._serve(request, request.path.removeprefix(prefix), routes)
                return status, body, {}
        raise HTTPError(404, 'no such service')

    def _serve(self, request: Request, path: str, routes: list[Any]) -> Answer:
        for method, pattern, action in routes:
            match = re.fullmatch(pattern, path)
            if match and method == request.method:
                try:
                    return action(self, request, *match.groups())
                except base.CloudNotFound as error:
                    raise HTTPError(404, error.message) from None
                except base.CloudConflict as error:
                    raise HTTPError(409, error.message) from None
        raise HTTPError(404, f'no route {request.method} {path}')

    def _identity(self, request: Request) -> tuple[int, Any, dict[str, str]]:
        if request.method == 'GET':
            link = {'rel': 'self', 'href': f'{self.url}{IDENTITY}/'}
            return 200, {'version': {'id': 'v3.14', 'status': 'stable', 'links': [link]}}, {}
        if request.body['auth']['identity']['password']['user']['password'] != 'secret':
            raise HTTPError(401, 'wrong password')
        token = f'gAAAAAB{secrets.token_urlsafe(60)}'
        self.tokens.add(token)
        place = {'id': 'e', 'interface': 'internal', 'region_id': 'R', 'region': 'R'}
        catalog = [
            {**dict.fromkeys(('type', 'name', 'id'), kind), 'endpoints': [{**place, 'url': url}]}
            for kind, path in self.catalog.items()
            for url in [f'{self.url}{path}']
        ]
        domain = {'domain': {'id': 'default', 'name': 'D'}}
        body = {
            'methods': ['password'],
            'user': {'id': stub_trusts.SERVICE_USER, 'name': 'climate', **domain},
            'project': {'id': 'p', 'name': 'service', **domain},
            'roles': [{'id': 'r', 'name': 'admin'}],
            'catalog': catalog,
            'expires_at': '2099-01-01T00:00:00.000000Z',
            'issued_at': '2020-01-01T00:00:00.000000Z',
        }
        return 201, {'token': body}, {'X-Subject-Token': token}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True
    wbufsize = -1
    cloud: StubCloud

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        what = {'method': self.command, 'path': parts.path, 'query': query}
        body = json.loads(raw) if raw else None
        answer = self.cloud.handle(Request(**what, body=body, headers=self.headers))
        if answer is None:
            self.close_connection = True
            return
        status, body, headers = answer
        data = b'' if body is None else json.dumps(body).encode()
        if isinstance(body, str):
            data = body.encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        if 'x-proxy' not in headers:
            for name in ('x-openstack-request-id', 'x-compute-request-id'):
                self.send_header(name, 'req-1')
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = do_PUT = _answer

    def log_message(self, *_: object) -> None:
        """Say nothing."""
