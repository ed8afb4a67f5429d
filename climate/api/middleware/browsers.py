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

"""CORS, for those who ask for it."""

from __future__ import annotations

from collections.abc import Iterable

from oslo_config import cfg
from oslo_middleware import cors

from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp


class Browsers:
    """oslo.middleware's CORS for requests of browsers, nothing for others.

    By itself it answers every OPTIONS with 200, but load balancers send
    ``OPTIONS /`` without a token and expect 401.
    """

    def __init__(self, app: WSGIApp, conf: cfg.ConfigOpts) -> None:
        self._app = app
        self._cors: WSGIApp = cors.CORS(app, conf)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on; only browsers send an Origin."""
        app = self._cors if 'HTTP_ORIGIN' in environ else self._app
        return app(environ, start_response)
