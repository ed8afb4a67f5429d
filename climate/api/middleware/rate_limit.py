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

"""Refuses requests of which too many come."""

from __future__ import annotations

from collections.abc import Iterable

from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp
from climate.api.middleware.identity import CONTEXT
from climate.api.rates import Rates


class AddressRate:
    """Counts requests by the address that they come from, before anything is done."""

    def __init__(self, app: WSGIApp, rates: Rates) -> None:
        self._app = app
        self._rates = rates

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on.

        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        self._rates.address(environ.get('REMOTE_ADDR') or '')
        return self._app(environ, start_response)


class ProjectRate:
    """Counts requests by the project of their token, before any work is done."""

    def __init__(self, app: WSGIApp, rates: Rates) -> None:
        self._app = app
        self._rates = rates

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on.

        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        self._rates.project(environ[CONTEXT].project_id)
        return self._app(environ, start_response)
