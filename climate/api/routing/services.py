# SPDX-License-Identifier: Apache-2.0

"""Dependencies of the API: the layers below it, and its settings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Protocol

from oslo_config import cfg

from climate.api.authentication.browser_sessions import SignInService
from climate.api.http.bodies import Texts
from climate.api.http.waits import Waits
from climate.api.http.wsgi import Wrapper
from climate.api.limits.rates import Rates
from climate.api.limits.shares import ShareSettings
from climate.booking.leases import Leases
from climate.clock import Clock
from climate.conf.settings import option
from climate.conf.settings import part
from climate.conf.settings import values
from climate.enforcement.idempotency_keys import KeyedAnswers
from climate.feeds.links import FeedLinks
from climate.plugins.contract import Plugin
from climate.resources.paged_calendar import PagedCalendar
from climate.resources.resources import Resources
from climate.resources.types import ResourceTypes
from climate.upkeep.maintenances import Maintenances
from climate.webhooks.subscriptions import Subscriptions


class Enforcer(Protocol):
    """The part of oslo.policy's enforcer that the API uses."""

    def authorize(self, rule: str, target: Mapping[str, Any], creds: Any) -> bool:
        """Return whether *rule* allows *creds* to act on *target*."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """The layers below the API.

    :ivar plugins: plugins by resource type
    :ivar texts: the fields of leases and offers whose texts may have more than one line
    :ivar health: checks by name, such as ``database``; each raises if the part that it
        checks does not work
    """

    leases: Leases
    resources: Resources
    calendar: PagedCalendar
    maintenances: Maintenances
    resource_types: ResourceTypes
    keyed_answers: KeyedAnswers
    webhooks: Subscriptions
    feeds: FeedLinks
    plugins: Mapping[str, Plugin[Any]]
    enforcer: Enforcer
    clock: Clock
    texts: Texts
    health: Mapping[str, Callable[[], Mapping[str, int] | None]] = dataclasses.field(
        default_factory=dict
    )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ApiSettings:
    """Settings that operators configure.

    :ivar conf: configuration of the middleware of oslo.middleware
    :ivar authenticate: wraps the application in authentication
    :ivar max_request_body_size: maximum size of a body, in bytes
    :ivar max_limit: maximum number of objects on one page
    :ivar max_reservations: maximum number of reservations in a request for a lease
    :ivar trusted_proxies: networks of proxies whose headers are trusted
    :ivar allowed_hosts: names of the service that does not authenticate callers
    :ivar rates: rate limits; None for none
    :ivar waits: the requests that wait for leases
    :ivar shares: how many requests of one project are carried out at once
    :ivar ui: whether to serve the web page
    :ivar sign_in: makes what signs users of the page in; None without authentication
    :ivar max_sign_ins: how many sign-ins are handled at once
    :ivar audit: records the events of the audit trail; None for no audit trail
    """

    conf: cfg.ConfigOpts
    authenticate: Wrapper
    max_request_body_size: int = option('api', 'max_request_body_size')
    max_limit: int = option('api', 'max_limit')
    max_reservations: int = option('api', 'max_reservations_per_lease')
    shares: ShareSettings = part(ShareSettings)
    trusted_proxies: tuple[str, ...] = option('api', 'trusted_proxies', tuple)
    allowed_hosts: tuple[str, ...] = option('api', 'allowed_hosts', tuple)
    ui: bool = option('ui', 'enabled')
    max_sign_ins: int = option('ui', 'max_sign_ins')
    sign_in: Callable[[], SignInService] | None = None
    audit: Callable[[dict[str, Any]], None] | None = None
    rates: Rates | None = None
    waits: Waits = dataclasses.field(default_factory=Waits)

    @classmethod
    def from_conf(
        cls,
        conf: cfg.ConfigOpts,
        authenticate: Wrapper,
        audit: Callable[[dict[str, Any]], None] | None = None,
        sign_in: Callable[[], SignInService] | None = None,
    ) -> ApiSettings:
        """Return the settings that *conf* holds."""
        return cls(
            conf=conf,
            authenticate=authenticate,
            audit=audit,
            sign_in=sign_in,
            rates=Rates(conf),
            waits=Waits.from_conf(conf),
            **values(cls, conf),
        )
