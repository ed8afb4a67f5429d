# SPDX-License-Identifier: Apache-2.0

"""The API as a WSGI application: the layers of middleware around pecan."""

from __future__ import annotations

from collections.abc import Callable

from oslo_context.context import RequestContext
from oslo_middleware import cors
from oslo_middleware import request_id

from climate.api.authentication import browser_sessions
from climate.api.authentication.auth import Identity
from climate.api.authentication.auth import NoAuth
from climate.api.authentication.browser_sessions import BrowserSessions
from climate.api.authentication.own_pages import OwnPages
from climate.api.authentication.proxies import HEADERS
from climate.api.authentication.proxies import Proxies
from climate.api.authentication.single_sign_on import LANDING
from climate.api.authentication.single_sign_on import SingleSignOn
from climate.api.authentication.token_checks import CheckedTokens
from climate.api.controllers.table import route_table
from climate.api.http.wsgi import WSGIApp
from climate.api.limits.deadlines import OneDeadline
from climate.api.limits.rates import AddressRate
from climate.api.limits.rates import ProjectRate
from climate.api.limits.refused_projects import RefusedProjects
from climate.api.limits.shares import ProjectThreads
from climate.api.limits.shares import SharedThreads
from climate.api.limits.shares import ThreadShares
from climate.api.middleware import web_page
from climate.api.middleware.audited_refusals import AuditedRefusals
from climate.api.middleware.feed_links import FeedCalendars
from climate.api.middleware.feed_links import PATH as FEED_PATH
from climate.api.middleware.health import Health
from climate.api.middleware.health import PATH
from climate.api.middleware.measures import MeasuredRequests
from climate.api.middleware.middleware import AccessLog
from climate.api.middleware.middleware import HeaderSwitch
from climate.api.middleware.middleware import JsonErrors
from climate.api.middleware.middleware import Negotiation
from climate.api.middleware.middleware import PathSwitch
from climate.api.middleware.middleware import PatternSwitch
from climate.api.middleware.middleware import ReadBody
from climate.api.middleware.middleware import SizeLimit
from climate.api.middleware.traces import TracedRequests
from climate.api.openapi import served as openapi
from climate.api.openapi.document import DocumentWriter
from climate.api.routing.audit import Audit
from climate.api.routing.compression import Compression
from climate.api.routing.idempotency_keys import IdempotentRequests
from climate.api.routing.routes import OPEN
from climate.api.routing.routes import PREFIX
from climate.api.routing.routes import RouteTable
from climate.api.routing.routing import credentials
from climate.api.routing.routing import Decisions
from climate.api.routing.routing import Json
from climate.api.routing.routing import RouteChecks
from climate.api.routing.routing import Router
from climate.api.routing.services import ApiSettings
from climate.api.routing.services import Services
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
    table = route_table(services, settings)
    shares = ThreadShares(settings.shares)
    app: WSGIApp = ReadBody(_pecan(table, services, settings))
    app = ProjectThreads(app, shares, _operators(services))
    if settings.rates is not None and settings.rates.projects:
        app = ProjectRate(app, settings.rates)
    app = RefusedProjects(app, services.clock)
    app = Identity(app)
    app = CheckedTokens(settings.authenticate(app), shares, settings.shares, settings.rates)
    document = openapi.OpenApi(DocumentWriter(table, fixed(services.plugins)))
    app = PathSwitch(openapi.PATH, SharedThreads(document, shares), app)
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
    app = PatternSwitch(FEED_PATH, feeds, app)
    if settings.rates is not None and settings.rates.addresses:
        app = AddressRate(app, settings.rates)
    app = OneDeadline(app)
    app = JsonErrors(app)
    app = _audited(app, services, settings)
    app = AccessLog(app)
    if recording.enabled():
        app = MeasuredRequests(app, _paths(table))
    if spans.enabled():
        app = TracedRequests(app, _paths(table))
    app = PathSwitch(PATH, Health(settings.conf, services.health), app)
    app = request_id.RequestId(app, settings.conf)
    app = HeaderSwitch(['HTTP_ORIGIN'], cors.CORS(app, settings.conf), app)
    app = HeaderSwitch(HEADERS, Proxies(app, settings.conf, settings.trusted_proxies), app)
    # Outermost, because the middleware of oslo completes addresses, too.
    return _hostless(app) if settings.ui else app


def _hostless(app: WSGIApp) -> WSGIApp:
    """Return *app* with redirects of the page that name no host."""
    for path in (web_page.PREFIX, LANDING):
        app = PathSwitch(path, web_page.HostlessRedirects(app), app)
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


def _paths(table: RouteTable) -> set[str]:
    """Return the paths of all requests, as metrics and traces name them."""
    served = {prefix + route.path for route in table for prefix in (PREFIX, '')}
    return {*OPEN, browser_sessions.PATH, *served}


def _pecan(table: RouteTable, services: Services, settings: ApiSettings) -> WSGIApp:
    idempotent = IdempotentRequests(services.keyed_answers, settings.waits)
    limits = services.leases.settings.budget
    route_checks = RouteChecks(services.enforcer, services.clock, idempotent, limits)
    hooks = [Compression(), Json(), route_checks]
    if settings.audit is not None:
        hooks.append(Audit(settings.audit, services.clock))
    app: WSGIApp = Router(table, hooks)
    return app
