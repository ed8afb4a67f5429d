# SPDX-License-Identifier: Apache-2.0

"""One limit for all that a request waits for in the database."""

from __future__ import annotations

from collections.abc import Iterable

from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.db.engine import lock_waits


class OneDeadline:
    """Has all transactions of a request share ``[database] lock_timeout``."""

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on."""
        with lock_waits.one_request():
            return self._app(environ, start_response)
