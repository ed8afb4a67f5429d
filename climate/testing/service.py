# SPDX-License-Identifier: Apache-2.0

"""The API of a deployment, as a WSGI application without a socket."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Protocol

import webob
from oslo_config import cfg
from oslo_policy import opts as policy_opts

from climate import conf as options
from climate.api import app
from climate.api.authentication import auth
from climate.api.http import texts
from climate.api.http.wsgi import WSGIApp
from climate.api.routing.services import ApiSettings
from climate.api.routing.services import Services
from climate.conf import api
from climate.conf import feeds
from climate.conf import rate_limit
from climate.conf import ui
from climate.db.administration import contents
from climate.db.transactions.store import Store
from climate.enforcement.idempotency_keys import KeyedAnswers
from climate.enforcement.limits import ProjectLimits
from climate.feeds.links import FeedLinks
from climate.feeds.links import FeedSettings
from climate.plugins.contract import Plugin
from climate.policies.enforcer import make_enforcer
from climate.resources.paged_calendar import PagedCalendar
from climate.resources.registrar import Registrar
from climate.resources.resources import Resources
from climate.resources.types import ResourceTypes
from climate.simulator import SimulatedCloud
from climate.testing.deployment import PROJECT
from climate.testing.restorable import RestorableDeployment
from climate.upkeep.maintenances import Maintenances
from climate.webhooks.posts import Poster
from climate.webhooks.posts import PosterSettings
from climate.webhooks.subscriptions import Subscriptions
from climate.webhooks.subscriptions import SubscriptionSettings

MEMBER = f'alice:{PROJECT}:member'
"""The token of the user who books in these tests, for ``auth_strategy = noauth``."""


class Serving(Protocol):
    """An API that tests send requests to, with its database, cloud and types."""

    @property
    def app(self) -> WSGIApp:
        """The WSGI application."""

    @property
    def store(self) -> Store:
        """The database."""

    @property
    def cloud(self) -> SimulatedCloud:
        """The cloud."""

    @property
    def plugins(self) -> Mapping[str, Plugin[Any]]:
        """The enabled resource types, by name."""

    def rows(self) -> Mapping[str, list[tuple[Any, ...]]]:
        """Return every row of the database, by table."""


class Service(RestorableDeployment):
    """A deployment with an API.

    :param plugins: the enabled types, in addition to ``physical:host``
    :ivar app: the WSGI application
    """

    def __init__(self, plugins: Iterable[Plugin[Any]] = ()) -> None:
        super().__init__(plugins)

    def _setUp(self) -> None:
        super()._setUp()
        conf = cfg.ConfigOpts()
        options.register_opts(conf, api, feeds, rate_limit, ui)
        conf([])
        conf.set_override('auth_strategy', 'noauth')
        # Requests come as fast as they can, from any number of threads, and no server closes
        # the responses.
        conf.set_override('project_share', 1.0, group='api')
        conf.set_override('per_project', '', group='rate_limit')
        conf.set_override('per_address', '', group='rate_limit')
        policy_opts.set_defaults(conf, policy_file=None)
        registrar = Registrar(self.store, self.plugins, self.cloud)
        services = Services(
            leases=self.leases,
            resources=Resources(self.store, self.plugins, registrar, secret=uuid.uuid4().hex),
            maintenances=Maintenances(self.store, wake=lambda: None),
            resource_types=ResourceTypes(self.store, self.plugins),
            calendar=PagedCalendar(self.store, self.plugins),
            keyed_answers=KeyedAnswers(self.store, ProjectLimits()),
            webhooks=subscriptions(self.store, ProjectLimits()),
            feeds=FeedLinks(self.store, self.plugins, ProjectLimits(), FeedSettings()),
            plugins=self.plugins,
            enforcer=make_enforcer(conf),
            clock=self.clock,
            texts=texts.of_leases(self.plugins),
        )
        self.app = app.make_app(services, ApiSettings.from_conf(conf, auth.wrapper(conf)))

    def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return every row of the database, by table."""
        return contents.rows(self.store)


def subscriptions(
    store: Store, limits: ProjectLimits, settings: PosterSettings | None = None
) -> Subscriptions:
    """Return the operations on webhooks, which wake no manager.

    :param settings: the URLs that they can have; None for those of the defaults
    """
    poster = Poster(settings or PosterSettings())
    return Subscriptions(store, poster, limits, lambda: None, SubscriptionSettings())


def send(
    serving: Serving, method: str, path: str, body: Any = None, *, version: str = '1.0'
) -> webob.Response:
    """Send a request as a member of the project; return the response.

    :param body: sent as JSON; None for no body
    :param version: the microversion
    """
    request = webob.Request.blank(path, method=method)
    request.headers['X-Auth-Token'] = MEMBER
    request.headers['OpenStack-API-Version'] = f'reservation {version}'
    if body is not None:
        request.body = json.dumps(body).encode()
        request.content_type = 'application/json'
    return request.get_response(serving.app)
