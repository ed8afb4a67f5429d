# SPDX-License-Identifier: Apache-2.0

"""The audit events of requests that no handler sees: sign-ins, and what is refused before.

An attacker can cause refusals as fast as the API gives them. So of those that are alike, one in
a minute has an event, which says how many there were since the one before.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from collections.abc import Iterable
from typing import Any
from typing import Final

from pycadf import cadftaxonomy

from climate.api.authentication import browser_sessions
from climate.api.authentication import single_sign_on
from climate.api.http.environ_keys import CONTEXT
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.api.routing import audit
from climate.clock import Clock

LOG = logging.getLogger(__name__)

_REFUSALS: Final = frozenset({406, 413, 429})
_SIGN_INS: Final = {'POST': cadftaxonomy.ACTION_AUTHENTICATE, 'DELETE': cadftaxonomy.ACTION_DELETE}
_SESSIONS: Final = frozenset({browser_sessions.PATH, single_sign_on.LANDING})
_PLAIN: Final = ('PATH_INFO', 'REMOTE_ADDR', 'HTTP_USER_AGENT', 'openstack.request_id')
# Headers of callers are not to be believed before authentication.
_IDENTITY: Final = ('HTTP_X_USER_ID', 'HTTP_X_USER_NAME', 'HTTP_X_PROJECT_ID')
_NOUN: Final = re.compile(r'/v1/([a-z-]{1,40})')
_EVERY: Final = 60.0
_MOST: Final = 1000

_Kind = tuple[str, str, str, int]


class AuditedRefusals:
    """Sends the events.

    :param send: sends an event; must not block
    """

    def __init__(self, app: WSGIApp, send: Callable[[dict[str, Any]], None], clock: Clock) -> None:
        self._app = app
        self._send = send
        self._clock = clock
        self._lock = threading.Lock()
        # When the last event was sent, and how many refusals there were since.
        self._known: dict[_Kind, tuple[float, int]] = {}

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on, and record the outcome."""
        status: list[int] = []

        def started(line: str, *rest: Any) -> Any:
            status.append(int(line.partition(' ')[0]))
            return start_response(line, *rest)

        answer = self._app(environ, started)
        if status and environ['REQUEST_METHOD'] in audit.CHANGES:
            try:
                self._record(environ, status[-1])
            except Exception:
                LOG.exception('The audit trail is missing a request: its event could not be sent')
        return answer

    def _record(self, environ: Environ, status: int) -> None:
        method, path = environ['REQUEST_METHOD'], environ.get('PATH_INFO', '')
        match = _NOUN.match(path)
        if path in _SESSIONS:
            noun, action = 'sessions', _SIGN_INS.get(method, '')
        elif match is not None and status in _REFUSALS and audit.RECORDED not in environ:
            noun, action = match[1], ''
        else:
            return
        facts: dict[str, Any] = {key: environ[key] for key in _PLAIN if key in environ}
        if CONTEXT in environ:
            facts |= {key: environ[key] for key in _IDENTITY if key in environ}
        facts |= environ.get(browser_sessions.SIGNED_IN, {})
        repeated = 0
        if status in _REFUSALS:
            who = facts.get('HTTP_X_USER_ID') or facts.get('REMOTE_ADDR') or ''
            counted = self._count((who, method, noun, status))
            if counted is None:
                return
            repeated = counted
        change = audit.Change(method=method, noun=noun, verb='', path='', action=action)
        event = audit.event(facts, change, status, self._clock.now())
        if repeated:
            event.setdefault('tags', []).append(f'repeated?value={repeated}')
        self._send(event)

    def _count(self, kind: _Kind) -> int | None:
        """Return how many refusals there were since the last event; None to send none now."""
        now = self._clock.ticks()
        with self._lock:
            last, number = self._known.get(kind, (now - _EVERY, 0))
            if now - last < _EVERY:
                self._known[kind] = last, number + 1
                return None
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[kind] = now, 0
            return number
