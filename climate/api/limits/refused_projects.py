# SPDX-License-Identifier: Apache-2.0
"""Log lines about projects of which too many requests come."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Iterable
from typing import Final

from climate import exceptions
from climate.api.http.environ_keys import CONTEXT
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.clock import Clock

LOG = logging.getLogger(__name__)

_SECONDS: Final = 60.0
# Only projects with a valid token are here, so this is rarely reached.
_MOST: Final = 1000


@dataclasses.dataclass(slots=True)
class _Refusals:
    """The refusals of a project since its last line."""

    logged: float
    number: int = 0


class RefusedProjects:
    """Logs that requests of a project are refused: at most one line per minute for each."""

    def __init__(self, app: WSGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, _Refusals] = {}

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on.

        :raises climate.exceptions.TooManyRequests: if it is refused
        """
        try:
            return self._app(environ, start_response)
        except exceptions.TooManyRequests as error:
            number = self._due(environ[CONTEXT].project_id)
            if number:
                LOG.warning(
                    'Project %s: %d requests were refused since the last line about it: %s',
                    environ[CONTEXT].project_id,
                    number,
                    error.message,
                )
            raise

    def _due(self, project_id: str) -> int:
        """Count a refusal; return how many to log now."""
        now = self._clock.ticks()
        with self._lock:
            known = self._known.get(project_id)
            if known is None:
                self._forget(now)
                self._known[project_id] = _Refusals(logged=now)
                return 1
            known.number += 1
            if now - known.logged < _SECONDS:
                return 0
            number, known.number, known.logged = known.number, 0, now
            return number

    def _forget(self, now: float) -> None:
        """Forget projects whose next refusal is logged anyway, if there are many."""
        if len(self._known) >= _MOST:
            self._known = {
                key: each for key, each in self._known.items() if now - each.logged < _SECONDS
            }
