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

"""The API as a WSGI application: the layers of middleware around pecan."""

from __future__ import annotations

from collections.abc import Callable

from oslo_context.context import RequestContext
from oslo_middleware import cors
from oslo_middleware import request_id

from climate.api import browser_sessions
from climate.api import web_page
from climate.api.audit import Audit
from climate.api.audited_refusals import AuditedRefusals
from climate.api.auth import Identity
from climate.api.auth import NoAuth
from climate.api.browser_sessions import BrowserSessions
from climate.api.compression import Compression
from climate.api.controllers.root import RootController
from climate.api.deadlines import OneDeadline
from climate.api.feed_links import FeedCalendars
from climate.api.feed_links import PATH as FEED_PATH
from climate.api.health import Health
from climate.api.health import PATH
from climate.api.idempotency_keys import IdempotentRequests
from climate.api.measures import MeasuredRequests
from climate.api.middleware import AccessLog
from climate.api.middleware import ForHeaders
from climate.api.middleware import ForPath
from climate.api.middleware import ForPattern
from climate.api.middleware import JsonErrors
from climate.api.middleware import Negotiation
from climate.api.middleware import ReadBody
from climate.api.middleware import SizeLimit
from climate.api.openapi import served as openapi
from climate.api.openapi.document import DocumentWriter
from climate.api.own_pages import OwnPages
from climate.api.proxies import HEADERS
from climate.api.proxies import Proxies
from climate.api.rates import AddressRate
from climate.api.rates import ProjectRate
from climate.api.refused_projects import RefusedProjects
from climate.api.routes import OPEN
from climate.api.routes import walk
from climate.api.routes import words
from climate.api.routing import credentials
from climate.api.routing import Decisions
from climate.api.routing import Guards
from climate.api.routing import Json
from climate.api.routing import Request
from climate.api.routing import Router
from climate.api.services import ApiSettings
from climate.api.services import Services
from climate.api.shares import ProjectThreads
from climate.api.shares import SharedThreads
from climate.api.shares import ThreadShares
from climate.api.single_sign_on import LANDING
from climate.api.single_sign_on import SingleSignOn
from climate.api.token_checks import CheckedTokens
from climate.api.traces import TracedRequests
from climate.api.wsgi import WSGIApp
from climate.metrics import recording
from climate.policies.base import OPERATORS
from climate.resources.catalog import fixed
from climate.tracing import spans


def make_app(services: Services, settings: ApiSettings) -> WSGIApp:
    """Return the API as a WSGI application."""
    # Innermost first: a request passes through the last layer first. Proxy headers
    # come first, because they define the public URL of the service. Browsers send
    # CORS requests without a token, but with an Origin; other requests bypass CORS,
    # which answers every OPTIONS with 200, where load balancers expect 401. Next is
    # the request id, so that every log line below has it, including those of errors.
    # Health checks must work whatever else fails, and are not logged. JsonErrors
    # surrounds everything that can raise. SizeLimit precedes everything that could read
    # the body. FeedCalendars answers calendars, whose readers have no token. Negotiation
    # precedes authentication, because version documents and the OpenAPI document need no
    # token; so does the web page, whose sessions add tokens to requests. Identity precedes
    # all work, because clients repeat a request after a 401; CheckedTokens limits what
    # invented tokens cost. ProjectThreads follows, so that a project that
    # sends too much gets its refusal before its requests cost anything.
    # OwnPages precedes what any page in a browser could use without a token.
    # ReadBody is innermost: who has no token, or sent too many requests, can make no thread
    # wait for a body.
    root = RootController(services, settings)
    shares = ThreadShares(settings.shares)
    app: WSGIApp = ReadBody(_pecan(root, services, settings))
    app = ProjectThreads(app, shares, _operators(services))
    if settings.rates is not None and settings.rates.projects:
        app = ProjectRate(app, settings.rates)
    app = RefusedProjects(app, services.clock)
    app = Identity(app)
    app = CheckedTokens(settings.authenticate(app), shares, settings.shares, settings.rates)
    document = openapi.OpenApi(DocumentWriter(root, fixed(services.plugins)))
    app = ForPath(openapi.PATH, SharedThreads(document, shares), app)
    app = Negotiation(app)
    if settings.ui:
        app = _with_page(app, services, settings)
    app = SizeLimit(app, settings.max_request_body_size)
    # The middleware around this registers them, too, but later.
    settings.conf.register_opts(cors.CORS_OPTS, group='cors')
    if settings.authenticate is NoAuth:
        shared = bool(settings.conf.cors.allowed_origin)
        app = OwnPages(app, settings.allowed_hosts, shared=shared)
    feeds = FeedCalendars(services.feeds, settings.rates, shares)
    app = ForPattern(FEED_PATH, feeds, app)
    if settings.rates is not None and settings.rates.addresses:
        app = AddressRate(app, settings.rates)
    app = OneDeadline(app)
    app = JsonErrors(app)
    app = _audited(app, services, settings)
    app = AccessLog(app)
    if recording.enabled():
        app = MeasuredRequests(app, _paths(root))
    if spans.enabled():
        app = TracedRequests(app, _paths(root))
    app = ForPath(PATH, Health(settings.conf, services.health), app)
    app = request_id.RequestId(app, settings.conf)
    app = ForHeaders(['HTTP_ORIGIN'], cors.CORS(app, settings.conf), app)
    app = ForHeaders(HEADERS, Proxies(app, settings.conf, settings.trusted_proxies), app)
    # Outermost, because the middleware of oslo completes addresses, too.
    return _hostless(app) if settings.ui else app


def _hostless(app: WSGIApp) -> WSGIApp:
    """Return *app* with redirects of the page that name no host."""
    for path in (web_page.PREFIX, LANDING):
        app = ForPath(path, web_page.HostlessRedirects(app), app)
    return app


def _audited(app: WSGIApp, services: Services, settings: ApiSettings) -> WSGIApp:
    """Return the application with the audit events of what no handler sees."""
    if settings.audit is None:
        return app
    return AuditedRefusals(app, settings.audit, services.clock)


def _with_page(app: WSGIApp, services: Services, settings: ApiSettings) -> WSGIApp:
    """Return the application with the web page, and with the sessions of its users."""
    files = web_page.load()
    sessions = BrowserSessions(
        app,
        None if settings.sign_in is None else settings.sign_in(),
        services.clock,
        rates=settings.rates,
        most=settings.max_sign_ins,
        single=None if settings.sign_in is None else SingleSignOn.from_conf(settings.conf),
    )
    return web_page.WebPage(sessions, files)


def _operators(services: Services) -> Callable[[RequestContext], bool]:
    """Return a function that says whether a caller is an operator or a service."""
    decisions = Decisions(services.enforcer, services.clock)
    return lambda context: decisions.allows(OPERATORS, credentials(context))


def _paths(root: RootController) -> set[str]:
    """Return the paths of all requests, as metrics and traces name them."""
    return {*OPEN, browser_sessions.PATH, *(route.path for route in walk(root))}


def _pecan(root: RootController, services: Services, settings: ApiSettings) -> WSGIApp:
    idempotent = IdempotentRequests(services.keyed_answers, settings.waits)
    limits = services.leases.settings.budget
    guards = Guards(services.enforcer, services.clock, idempotent, limits)
    hooks = [Compression(), Json(), guards]
    if settings.audit is not None:
        hooks.append(Audit(settings.audit, services.clock))
    app: WSGIApp = Router(
        root,
        words(root),
        hooks=hooks,
        request_cls=Request,
        force_canonical=False,
        guess_content_type_from_ext=False,
    )
    return app
