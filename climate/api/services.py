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

"""What the API is given: the layers below it, and what operators configured."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from oslo_config import cfg

from climate.api.middleware import Wrapper
from climate.api.rates import Rates
from climate.api.scope import Enforcer
from climate.clock import Clock
from climate.leasing.leases import Leases
from climate.leasing.maintenances import Maintenances
from climate.leasing.resource_types import ResourceTypes
from climate.leasing.resources import Resources
from climate.plugins.base import Plugin


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """The layers below.

    :ivar plugins: by resource type; they describe reservations
    :ivar health: checks by name, such as ``database``; each returns if what
        it looks at works, and raises if not
    """

    leases: Leases
    resources: Resources
    maintenances: Maintenances
    resource_types: ResourceTypes
    plugins: Mapping[str, Plugin[Any]]
    enforcer: Enforcer
    clock: Clock
    health: Mapping[str, Callable[[], None]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ApiSettings:
    """What operators configured.

    :ivar conf: for the middleware of oslo.middleware
    :ivar authenticate: wraps the application in what finds out who calls
    :ivar max_request_body_size: in bytes
    :ivar max_limit: the most leases on one page
    :ivar max_reservations: in a request for a lease
    :ivar trusted_proxies: networks of proxies whose headers are believed
    :ivar rates: how many requests may come; None for any number
    :ivar audit: is told who changed what; None if nobody wants to know
    """

    conf: cfg.ConfigOpts
    authenticate: Wrapper
    max_request_body_size: int = 114688
    max_limit: int = 1000
    max_reservations: int = 20
    trusted_proxies: tuple[str, ...] = ()
    audit: Callable[[dict[str, Any]], None] | None = None
    rates: Rates | None = None

    @classmethod
    def from_conf(
        cls,
        conf: cfg.ConfigOpts,
        authenticate: Wrapper,
        audit: Callable[[dict[str, Any]], None] | None = None,
    ) -> ApiSettings:
        """Return the settings that *conf* holds."""
        return cls(
            conf=conf,
            audit=audit,
            rates=Rates(conf),
            authenticate=authenticate,
            max_request_body_size=conf.api.max_request_body_size,
            max_limit=conf.api.max_limit,
            max_reservations=conf.api.max_reservations_per_lease,
            trusted_proxies=tuple(conf.api.trusted_proxies),
        )
