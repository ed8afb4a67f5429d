# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""One limit for all that a request waits for in the database."""

from __future__ import annotations

from collections.abc import Iterable

from climate.api.wsgi import Environ
from climate.api.wsgi import StartResponse
from climate.api.wsgi import WSGIApp
from climate.db import lock_waits


class OneDeadline:
    """Has all transactions of a request share ``[database] lock_timeout``."""

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on."""
        with lock_waits.one_request():
            return self._app(environ, start_response)
