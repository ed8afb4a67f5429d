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

"""Puts the API together."""

from __future__ import annotations

from collections.abc import Iterable

import pecan
from oslo_middleware import request_id

from climate.api.controllers.root import RootController
from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp
from climate.api.middleware.access_log import AccessLog
from climate.api.middleware.audit import Audit
from climate.api.middleware.audit import Witness
from climate.api.middleware.browsers import Browsers
from climate.api.middleware.health import Health
from climate.api.middleware.identity import Identity
from climate.api.middleware.json_errors import JsonErrors
from climate.api.middleware.negotiation import Negotiation
from climate.api.middleware.proxies import Proxies
from climate.api.middleware.rate_limit import AddressRate
from climate.api.middleware.rate_limit import ProjectRate
from climate.api.middleware.size_limit import SizeLimit
from climate.api.services import ApiSettings
from climate.api.services import Services


def make_app(services: Services, settings: ApiSettings) -> WSGIApp:
    """Return the API as a WSGI application."""
    # From the inside out; a request passes through them from the last to the
    # first. Whoever is asked must first know under which name the service is
    # seen (proxy headers), then let browsers ask at all (CORS; a browser asks
    # without a token), then have a request id, so that everything from here
    # on, errors too, can be found in the log. Health comes before what could
    # fail, and is not worth a line in the log. Errors enclose all that may
    # raise. The size is limited before anything reads the body; versions are
    # told without a token; who it is must be clear before any work is done,
    # for clients send a request again after a 401.
    app: WSGIApp = _pecan(services, settings)
    if settings.audit is not None:
        app = Witness(app, services.plugins)
    if settings.rates is not None and settings.rates.projects:
        app = ProjectRate(app, settings.rates)
    app = Identity(app)
    app = settings.authenticate(app)
    app = Negotiation(app)
    app = SizeLimit(app, settings.max_request_body_size)
    if settings.rates is not None and settings.rates.addresses:
        app = AddressRate(app, settings.rates)
    app = JsonErrors(app)
    if settings.audit is not None:
        app = Audit(app, settings.audit, services.clock)
    app = AccessLog(app)
    app = Health(app, settings.conf, services.health)
    app = request_id.RequestId(app, settings.conf)
    app = Browsers(app, settings.conf)
    app = Proxies(app, settings.conf, settings.trusted_proxies)
    return app


def _pecan(services: Services, settings: ApiSettings) -> WSGIApp:
    app = pecan.Pecan(
        RootController(services, settings),
        force_canonical=False,
        guess_content_type_from_ext=False,
        use_context_locals=False,
    )

    def speak_json(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        # There is nothing but JSON here, whatever a client says it accepts.
        environ['HTTP_ACCEPT'] = 'application/json'
        answer: Iterable[bytes] = app(environ, start_response)
        return answer

    return speak_json
