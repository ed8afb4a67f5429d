# SPDX-License-Identifier: Apache-2.0

"""Assembles processes from their parts, as configured."""

from __future__ import annotations

import dataclasses
import functools
import logging
import sys
import threading
from collections.abc import Callable
from collections.abc import Mapping

from oslo_config import cfg

from climate import exceptions
from climate.api.app import make_app
from climate.api.authentication import auth
from climate.api.http import texts
from climate.api.http.wsgi import Wrapper
from climate.api.http.wsgi import WSGIApp
from climate.api.routing.services import ApiSettings
from climate.api.routing.services import Services
from climate.booking.leases import Leases
from climate.client import terminal
from climate.clock import Clock
from climate.clock import SystemClock
from climate.cloud import deletions
from climate.cloud.base import Cloud
from climate.cloud.deletions import Recorded
from climate.cloud.sign_in import KeystoneSignIn
from climate.cmd import auditing
from climate.cmd import clouds
from climate.cmd import config
from climate.cmd import custom_types
from climate.cmd import database
from climate.cmd import memory
from climate.cmd import metrics
from climate.cmd import tracing
from climate.db.transactions.store import Store
from climate.domain.requests import Caller
from climate.enforcement import loading as filters
from climate.enforcement.filters import Filters
from climate.enforcement.idempotency_keys import KeyedAnswers
from climate.feeds.links import FeedLinks
from climate.feeds.links import FeedSettings
from climate.leases.settings import LeasingSettings
from climate.manager.claims.clocks import Clocks
from climate.messaging import rpc
from climate.messaging import transport
from climate.messaging.broker import BrokerCheck
from climate.metrics.catalogue import Exporter
from climate.plugins import loading
from climate.policies.enforcer import make_enforcer
from climate.resources.catalog import Catalog
from climate.resources.paged_calendar import PagedCalendar
from climate.resources.resources import Registry
from climate.resources.resources import Resources
from climate.resources.types import ResourceTypes
from climate.upkeep.maintenances import Maintenances
from climate.webhooks.posts import Poster
from climate.webhooks.posts import PosterSettings
from climate.webhooks.subscriptions import Subscriptions
from climate.webhooks.subscriptions import SubscriptionSettings

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Core:
    """The parts that the API and a manager share."""

    conf: cfg.ConfigOpts
    clock: Clock
    store: Store
    plugins: Catalog
    settings: LeasingSettings
    filters: Filters


def core(conf: cfg.ConfigOpts, clock: Clock | None = None) -> Core:
    """Return the parts that the API and a manager share.

    :raises climate.exceptions.ConfigurationError: if a plugin, a filter or a declared
        type is invalid
    """
    clock = clock or SystemClock()
    plugins = loading.load(conf.resource_types, conf)
    declared = custom_types.read(conf.custom.types_file)
    settings = LeasingSettings.from_conf(conf)
    store = Store(conf, clock)
    if not store.vault.has_keys:
        LOG.warning(
            'There is no encryption key: secrets of webhooks, user data and templates are stored '
            'in plain text. "climate-manage db sync" creates a key.'
        )
    return Core(
        conf=conf,
        clock=clock,
        store=store,
        plugins=Catalog(store, plugins, declared),
        settings=settings,
        filters=filters.load(conf),
    )


def load_timelines(parts: Core) -> None:
    """Load the timelines of all resource types.

    Without the database, the health check or the first search tries again.
    """
    try:
        parts.store.load_timelines(parts.plugins)
    except exceptions.ClimateError as error:
        LOG.warning('Timelines cannot be loaded yet: %s', error)


def _loaded(parts: Core) -> Mapping[str, int]:
    """Load the timelines that are not loaded yet; return the counters of all.

    :raises climate.exceptions.DatabaseUnavailable: if it does not answer
    """
    parts.store.load_timelines(parts.plugins)
    return parts.store.timelines.counts.found


def cloud(parts: Core) -> Cloud:
    """Return the cloud in which leases start and end.

    :raises climate.exceptions.ConfigurationError: if it cannot be used
    """
    return clouds.open_cloud(parts.conf, parts.clock)


def callers_clouds(find: Callable[[], Cloud]) -> Callable[[Caller], Cloud]:
    """Return a function that returns the cloud as a caller sees it.

    :param find: returns the cloud; called only when a request uses it, because most
        requests need no cloud and must work while it is down
    """

    def of(caller: Caller) -> Cloud:
        return find().of_caller(caller.token or '')

    return of


def find_once(find: Callable[[], Cloud]) -> Callable[[], Cloud]:
    """Return a function that calls *find* once, and then returns the same cloud."""
    lock = threading.Lock()
    cached = functools.cache(find)

    def found() -> Cloud:
        with lock:
            return cached()

    return found


def leases(
    parts: Core, wake: Callable[[], None], find_cloud: Callable[[], Cloud] | None = None
) -> Leases:
    """Return the operations of callers on leases.

    :param find_cloud: returns the cloud; None for the configured one
    """
    opened = find_cloud or functools.partial(cloud, parts)
    # What was created for a lease that is not booked is deleted again.
    find = find_once(lambda: Recorded(opened(), deletions.log))
    return Leases(
        parts.store,
        parts.plugins,
        parts.clock,
        parts.settings,
        wake,
        cloud_of=callers_clouds(find),
        filters=parts.filters,
        own_cloud=find,
    )


def api(
    parts: Core,
    *,
    registry: Registry,
    wake: Callable[[str], None],
    health: Mapping[str, Callable[[], Mapping[str, int] | None]],
    authenticate: Wrapper | None = None,
    find_cloud: Callable[[], Cloud] | None = None,
    audit: auditing.AuditRecorder | None = None,
) -> WSGIApp:
    """Return the API as a WSGI application.

    :param registry: registers resources
    :param wake: notifies managers of new work, with the reason; returns at once
    :param health: checks in addition to those of the database and the clock, by name
    :param find_cloud: returns the cloud; None for the configured one
    :param audit: records audit events; None if the audit trail is off
    """
    clocks = Clocks(parts.store, parts.clock, parts.conf.manager.claim_seconds)
    load_timelines(parts)
    health = {'timelines': functools.partial(_loaded, parts), **health}
    operations = leases(parts, functools.partial(wake, 'lease'), find_cloud)
    operations.refusals.start()
    services = Services(
        leases=operations,
        maintenances=Maintenances(parts.store, functools.partial(wake, 'health')),
        resources=Resources(parts.store, parts.plugins, registry, parts.conf.api.opaque_id_secret),
        resource_types=ResourceTypes(parts.store, parts.plugins),
        calendar=PagedCalendar(parts.store, parts.plugins),
        keyed_answers=KeyedAnswers(parts.store, parts.settings.limits),
        webhooks=subscriptions(parts, functools.partial(wake, 'webhooks')),
        feeds=FeedLinks(
            parts.store, parts.plugins, parts.settings.limits, FeedSettings.from_conf(parts.conf)
        ),
        plugins=parts.plugins,
        enforcer=make_enforcer(parts.conf),
        clock=parts.clock,
        texts=texts.of_leases(parts.plugins),
        health={'database': parts.store.ping, 'clock': clocks.check, **health},
    )
    wrapper = authenticate or auth.wrapper(parts.conf)
    sign_in = None
    if parts.conf.auth_strategy != 'noauth':
        sign_in = functools.partial(KeystoneSignIn.from_conf, parts.conf)
    return make_app(services, ApiSettings.from_conf(parts.conf, wrapper, audit, sign_in))


def poster(parts: Core) -> Poster:
    """Return what sends requests to webhooks.

    :raises climate.exceptions.ConfigurationError: if an option is wrong
    """
    return Poster(PosterSettings.from_conf(parts.conf))


def subscriptions(parts: Core, wake: Callable[[], None]) -> Subscriptions:
    """Return the operations of users on webhooks.

    :param wake: notifies managers that there is something to send
    """
    settings = SubscriptionSettings.from_conf(parts.conf)
    return Subscriptions(parts.store, poster(parts), parts.settings.limits, wake, settings)


def wsgi_application(conf: cfg.ConfigOpts | None = None) -> WSGIApp:
    """Return the API as ``climate-api`` and WSGI servers run it."""
    conf = conf or config.read([], 'climate-api')
    if conf.auth_strategy == 'noauth':
        LOG.warning(
            'auth_strategy is noauth: callers, including administrators, are not authenticated'
        )
    endpoint = metrics.endpoint(conf, Exporter.API)
    tracing.set_up(conf, 'climate-api')
    parts = core(conf)
    database.check(parts.store)
    client = rpc.ManagerClient(transport.rpc_transport(conf), topic=conf.manager.rpc_topic)
    broker = _broker_check(BrokerCheck(conf))
    application = api(
        parts,
        registry=client,
        wake=client.wake,
        health={'broker': broker},
        audit=auditing.recorder(conf, parts.clock),
    )
    if endpoint is not None:
        endpoint.start()
    memory.tune()
    memory.switch_sooner()
    return application


def _broker_check(check: BrokerCheck) -> Callable[[], None]:
    def check_broker() -> None:
        problem = check.problem()
        if problem is not None:
            raise exceptions.ServiceUnavailable(problem)

    return check_broker


def say(text: str) -> None:
    """Print a line on standard output, and flush it.

    Names in it cannot control the terminal.
    """
    sys.stdout.write(terminal.shown(text) + '\n')
    sys.stdout.flush()
