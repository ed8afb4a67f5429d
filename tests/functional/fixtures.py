# SPDX-License-Identifier: Apache-2.0

"""The whole service in one process: API, core, SQL and the simulated cloud.

Only what talks to the outside is left out: no socket, no broker, no Keystone.
"""

from __future__ import annotations

import abc
import dataclasses
import datetime
import os
import random
import types
from collections.abc import Callable
from collections.abc import Iterable
from typing import Any

import fixtures
from gabbi import fixture
from oslo_config import cfg
from oslo_policy import opts as policy_opts

from climate import conf as climate_conf
from climate.api import app
from climate.api.authentication import auth
from climate.api.http import texts
from climate.api.http.waits import Waits
from climate.api.http.wsgi import WSGIApp
from climate.api.routing.services import ApiSettings
from climate.api.routing.services import Services
from climate.booking.leases import Leases
from climate.clock import ManualClock
from climate.conf import api
from climate.conf import feeds
from climate.conf import rate_limit
from climate.conf import ui
from climate.db.administration import contents
from climate.db.transactions import store
from climate.enforcement.filters import Filters
from climate.enforcement.idempotency_keys import KeyedAnswers
from climate.enforcement.limits import ProjectLimits
from climate.feeds.links import FeedLinks
from climate.feeds.links import FeedSettings
from climate.leases.prices import Prices
from climate.leases.settings import LeasingSettings
from climate.manager.claims.claims import ClaimKeeper
from climate.manager.claims.worker import Worker
from climate.plugins.contract import Plugin
from climate.plugins.floating_ip.plugin import FloatingIP
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.instance.by_flavor import FlavorInstance
from climate.plugins.instance.by_size import VirtualInstance
from climate.plugins.network.plugin import NetworkPlugin
from climate.plugins.server.plugin import VirtualServer
from climate.plugins.stack.plugin import VirtualStack
from climate.plugins.storage.plugin import PhysicalStorage
from climate.plugins.volume.plugin import VirtualVolume
from climate.policies.enforcer import make_enforcer
from climate.resources.catalog import Catalog
from climate.resources.paged_calendar import PagedCalendar
from climate.resources.registrar import Registrar
from climate.resources.resources import Resources
from climate.resources.types import ResourceTypes
from climate.simulator.cloud import SimulatedCloud
from climate.testing import connection
from climate.testing.service import subscriptions
from climate.upkeep.maintenances import Maintenances
from tests import base
from tests import databases
from tests import drafts
from tests import generations
from tests import services

NOW = datetime.datetime(2030, 1, 1, 12, 0, 30, 250000, tzinfo=datetime.UTC)
HOSTS = 4
TYPES: tuple[Plugin[Any], ...] = (
    *(PhysicalHost(), VirtualInstance(), FlavorInstance(), FloatingIP(), NetworkPlugin()),
    *(PhysicalStorage(), VirtualServer(), VirtualStack(), VirtualVolume()),
)


class Service(fixtures.Fixture):
    """A service of its own, on an empty database, at noon of the first of January 2030.

    :ivar app: the WSGI application
    :ivar conf: its configuration
    :ivar store: its database
    :ivar cloud: its cloud, with hypervisors ``compute-1`` to ``compute-4``
    :ivar clock: its clock, which stands still
    :ivar broken: health checks that are to fail
    :ivar audit: receives who changed what; to be set before it is set up
    :ivar sign_in: makes what signs users in; likewise
    :ivar waits: the requests that wait; likewise; None for those that the options allow
    :param hosts: how many of the hypervisors are registered already
    :param filters: the filters that check leases; None for none
    :param types: the resource types that it serves; some if None
    :param limits: what projects may have; anything if None
    """

    def __init__(
        self,
        *,
        hosts: int = HOSTS,
        database: str = services.SQLITE,
        authenticate: Callable[[cfg.ConfigOpts], Any] = auth.wrapper,
        filters: Filters | None = None,
        types: Iterable[Plugin[Any]] | None = None,
        limits: ProjectLimits | None = None,
        prices: Prices | None = None,
    ) -> None:
        super().__init__()
        self._limits = limits or ProjectLimits()
        self._prices = prices or Prices()
        self._filters = filters
        self._types = TYPES if types is None else tuple(types)
        self._hosts = hosts
        self._database = database
        self._authenticate = authenticate
        self.broken: set[str] = set()
        self.waits: Waits | None = None
        self.sign_in: Callable[[], Any] | None = None
        self.audit: Callable[[dict[str, Any]], None] | None = None

    def _setUp(self) -> None:
        self.clock = ManualClock(NOW)
        self.conf = self._configure()
        self.store = store.Store(self.conf, self.clock)
        self.addCleanup(self.store.close)
        self.cloud = SimulatedCloud(':memory:', clock=self.clock)
        self.addCleanup(self.cloud.close)
        self.cloud.seed(HOSTS)
        self.plugins = Catalog(
            self.store, {plugin.resource_type: plugin for plugin in self._types}, [drafts.RACKS]
        )
        registrar = Registrar(self.store, self.plugins, self.cloud)
        for number in range(1, self._hosts + 1):
            registrar.register_resource(drafts.host(f'compute-{number}', rack=f'r{number % 2}'))
        self.services = self._services(registrar)
        self.app = self.made()

    def made(self) -> WSGIApp:
        """Return the application as the configuration wants it now."""
        settings = ApiSettings.from_conf(
            self.conf, self._authenticate(self.conf), self.audit, self.sign_in
        )
        if self.waits is not None:
            settings = dataclasses.replace(settings, waits=self.waits)
        return app.make_app(self.services, settings)

    def replace_settings(self, **settings: Any) -> None:
        """Serve leases with other values of settings from now on."""
        leases = self.services.leases
        leases = dataclasses.replace(
            leases, settings=dataclasses.replace(leases.settings, **settings)
        )
        self.services = dataclasses.replace(self.services, leases=leases)
        self.app = self.made()

    def work(self) -> None:
        """Do what is due, as a manager would."""
        claims = ClaimKeeper(self.store, self.clock, 'manager', 10.0)
        worker = Worker(
            self.store, self.plugins, self.cloud, LeasingSettings(), claims, lambda: None
        )
        while found := claims.take(8):
            for lease_id in found:
                worker.work(lease_id)
                claims.forget(lease_id)

    @property
    def public_network(self) -> str:
        """The id of the external network of the cloud."""
        return next(item.id for item in self.cloud.networks.networks() if item.external)

    def _configure(self) -> cfg.ConfigOpts:
        database = self.useFixture(databases.TabledDatabase(self._database))
        conf = cfg.ConfigOpts()
        climate_conf.register_opts(conf, api, feeds, rate_limit, ui)
        store.register_opts(conf)
        conf([])
        conf.set_override('auth_strategy', 'noauth')
        # Tests ask under any name.
        conf.set_override('allowed_hosts', ['*'], group='api')
        # Requests come as fast as they can, from any number of threads, and no server closes
        # the responses.
        conf.set_override('project_share', 1.0, group='api')
        conf.set_override('per_project', '', group='rate_limit')
        conf.set_override('per_address', '', group='rate_limit')
        conf.set_override('max_limit', 5, group='api')
        connection.use(conf, database.url)
        policy_opts.set_defaults(conf, policy_file=None)
        return conf

    def _services(self, registrar: Registrar) -> Services:
        leases = Leases(
            self.store,
            self.plugins,
            self.clock,
            LeasingSettings(limits=self._limits, prices=self._prices),
            wake=lambda: None,
            rng=random.Random(1),
            filters=self._filters or Filters(),
            # Whoever sends no token is somebody all the same, without authentication.
            cloud_of=lambda caller: self.cloud.of_caller(f'{caller.user_id}:{caller.project_id}'),
            own_cloud=lambda: self.cloud,
        )
        return Services(
            leases=leases,
            resources=Resources(self.store, self.plugins, registrar, secret='s'),
            maintenances=Maintenances(self.store, wake=lambda: None),
            resource_types=ResourceTypes(self.store, self.plugins),
            calendar=PagedCalendar(self.store, self.plugins),
            keyed_answers=KeyedAnswers(self.store, self._limits),
            webhooks=subscriptions(self.store, self._limits),
            feeds=FeedLinks(self.store, self.plugins, self._limits, FeedSettings()),
            plugins=self.plugins,
            enforcer=make_enforcer(self.conf),
            clock=self.clock,
            texts=texts.of_leases(self.plugins),
            health={'database': self.store.ping, 'broker': self._check_broker},
        )

    def _check_broker(self) -> None:
        if 'broker' in self.broken:
            raise OSError('amqp://user:secret@host refused')

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return everything that is in the database, by table."""
        return contents.rows(self.store)


class ServiceCase(base.TestCase):
    """A test case with a service of its own, on SQLite."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service())


# gabbi asks for the application when it reads a file, long before the fixture
# of the file is started, so the service is found when a request comes.
_running: list[Service] = []


def running_app() -> Callable[..., Any]:
    """Return an application that is the one of the file that runs."""

    def app(environ: Any, start_response: Any) -> Any:
        return _running[-1].app(environ, start_response)

    return app


class _GabbiFixture(fixture.GabbiFixture, abc.ABC):
    """A service for one gabbi file."""

    kind = services.SQLITE

    @abc.abstractmethod
    def service(self) -> Service:
        """Return the service it wants."""

    def start_fixture(self) -> None:
        """Start it; skip the file if its database is not there."""
        services.require(self.kind)
        _running.append(self.service())
        _running[-1].setUp()
        # Ids of Neutron differ each time, and the files have to name one.
        os.environ['PUBLIC_NETWORK'] = _running[-1].public_network

    def stop_fixture(self) -> None:
        """Stop it; complain about what its transactions did not announce."""
        _running.pop().cleanUp()
        unannounced = generations.taken()
        if unannounced:
            raise AssertionError(f'written without raising a generation: {unannounced}')


class ServiceFixture(_GabbiFixture):
    """Four registered hosts."""

    def service(self) -> Service:
        """Return a service with them."""
        return Service(database=self.kind)


class EmptyServiceFixture(_GabbiFixture):
    """Four hypervisors, none of them registered."""

    def service(self) -> Service:
        """Return a service without hosts."""
        return Service(hosts=0, database=self.kind)


class BrokenBrokerFixture(_GabbiFixture):
    """A service whose broker does not answer."""

    def service(self) -> Service:
        """Return a service whose health is bad."""
        service = Service(database=self.kind)
        service.broken.add('broker')
        return service


def on(database: str, **facts: Any) -> types.SimpleNamespace:
    """Return what gabbi takes for a module: the fixtures above, on *database*.

    :param facts: further attributes of the fixtures
    """
    return types.SimpleNamespace(
        **{
            cls.__name__: type(cls.__name__, (cls,), {'database': database, **facts})
            for cls in (ServiceFixture, EmptyServiceFixture, BrokenBrokerFixture)
        }
    )
