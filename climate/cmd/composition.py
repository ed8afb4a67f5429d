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

"""Puts processes together out of their parts, as the configuration says."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg

from climate import exceptions
from climate.api import auth
from climate.api.app import make_app
from climate.api.middleware import Wrapper
from climate.api.middleware import WSGIApp
from climate.api.services import ApiSettings
from climate.api.services import Services
from climate.clients.base import Cloud
from climate.clock import Clock
from climate.clock import SystemClock
from climate.cmd import config
from climate.db.store import Store
from climate.leasing.hosts import Hosts
from climate.leasing.hosts import Registry
from climate.leasing.leases import Leases
from climate.leasing.settings import LeasingSettings
from climate.manager.service import Manager
from climate.manager.service import ManagerOptions
from climate.messaging import publisher as publishers
from climate.messaging import rpc
from climate.messaging import transport
from climate.messaging.broker import BrokerCheck
from climate.plugins import loading
from climate.plugins.base import Plugin
from climate.policies.enforcer import make_enforcer


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Core:
    """What the API and a manager both need."""

    conf: cfg.ConfigOpts
    clock: Clock
    store: Store
    plugins: Mapping[str, Plugin[Any]]
    settings: LeasingSettings


def core(conf: cfg.ConfigOpts, clock: Clock | None = None) -> Core:
    """Return the common parts.

    :raises climate.exceptions.ConfigurationError: if a plugin is wrong
    """
    clock = clock or SystemClock()
    return Core(
        conf=conf,
        clock=clock,
        store=Store(conf, clock),
        plugins=loading.load(conf.resource_types, conf),
        settings=LeasingSettings.from_conf(conf),
    )


def leases(parts: Core, wake: Callable[[], None]) -> Leases:
    """Return what callers do with leases."""
    return Leases(parts.store, parts.plugins, parts.clock, parts.settings, wake)


def api(
    parts: Core,
    *,
    registry: Registry,
    wake: Callable[[], None],
    health: Mapping[str, Callable[[], None]],
    authenticate: Wrapper | None = None,
) -> WSGIApp:
    """Return the API as a WSGI application.

    :param registry: who takes hosts in
    :param wake: tells managers that there is something to do; returns at once
    :param health: checks beyond that of the database, by name
    """
    services = Services(
        leases=leases(parts, wake),
        hosts=Hosts(parts.store, registry),
        plugins=parts.plugins,
        enforcer=make_enforcer(parts.conf),
        clock=parts.clock,
        health={'database': parts.store.ping, **health},
    )
    wrapper = authenticate or auth.wrapper(parts.conf)
    return make_app(services, ApiSettings.from_conf(parts.conf, wrapper))


def wsgi_application(conf: cfg.ConfigOpts | None = None) -> WSGIApp:
    """Return the API as ``climate-api`` and WSGI servers run it."""
    conf = conf or config.read([], 'climate-api')
    parts = core(conf)
    client = rpc.ManagerClient(transport.rpc_transport(conf), topic=conf.manager.rpc_topic)
    broker = _broker_check(BrokerCheck(conf))
    return api(parts, registry=client, wake=client.wake, health={'broker': broker})


def manager(
    parts: Core, cloud: Cloud, publisher: publishers.Publisher, owner: str | None = None
) -> Manager:
    """Return a manager, not yet started."""
    return Manager(
        store=parts.store,
        plugins=parts.plugins,
        cloud=cloud,
        clock=parts.clock,
        settings=parts.settings,
        options=ManagerOptions.from_conf(parts.conf),
        publisher=publisher,
        owner=owner,
    )


def _broker_check(check: BrokerCheck) -> Callable[[], None]:
    def look() -> None:
        problem = check.problem()
        if problem is not None:
            raise exceptions.ServiceUnavailable(problem)

    return look


def say(text: str) -> None:
    """Print a line for whoever started the command, at once."""
    sys.stdout.write(text + '\n')
    sys.stdout.flush()
