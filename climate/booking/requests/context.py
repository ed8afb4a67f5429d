# SPDX-License-Identifier: Apache-2.0

"""What booking needs from the rest of a process."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from climate import exceptions
from climate.booking.requests.futile_searches import FutileSearches
from climate.booking.requests.refused_demand import RefusedDemand
from climate.clock import Clock
from climate.cloud.base import Cloud
from climate.db.transactions.store import Store
from climate.domain.requests import Caller
from climate.enforcement.filters import Filters
from climate.leases.notices import Plugins
from climate.leases.settings import LeasingSettings
from climate.resources import catalog


@dataclasses.dataclass(frozen=True)
class Context:
    """The store, the resource types, the filters and the cloud.

    :ivar wake: called after a commit that gives managers something to do; it
        must return at once
    :ivar rng: breaks ties between equally good resources
    :ivar cloud_of: returns the cloud as a caller sees it, with the caller's
        own token; None if there is no cloud
    :ivar filters: the filters that check leases
    :ivar own_cloud: returns the cloud as Climate sees it; None if there is no cloud
    :ivar futile: the requests for which nothing could give way
    :ivar refusals: counts what callers are refused
    :ivar fixed: the plugins of the types that exist as long as the process runs
    """

    store: Store
    plugins: Plugins
    clock: Clock
    settings: LeasingSettings
    wake: Callable[[], None]
    rng: random.Random = dataclasses.field(default_factory=random.Random)
    cloud_of: Callable[[Caller], Cloud] | None = None
    filters: Filters = dataclasses.field(default_factory=Filters)
    own_cloud: Callable[[], Cloud] | None = None
    futile: FutileSearches = dataclasses.field(default_factory=FutileSearches)
    refusals: RefusedDemand = dataclasses.field(init=False)
    fixed: Plugins = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'fixed', catalog.fixed(self.plugins))
        object.__setattr__(self, 'refusals', RefusedDemand(self.store, self.clock))

    def cloud(self, caller: Caller) -> Cloud:
        """Return the cloud as a caller sees it.

        :raises climate.exceptions.CloudUnavailable: if there is none
        """
        if self.cloud_of is None:
            raise _no_cloud()
        return self.cloud_of(caller)

    def service_cloud(self) -> Cloud:
        """Return the cloud as Climate sees it.

        :raises climate.exceptions.CloudUnavailable: if there is none
        """
        if self.own_cloud is None:
            raise _no_cloud()
        return self.own_cloud()


def _no_cloud() -> exceptions.CloudUnavailable:
    return exceptions.CloudUnavailable(service='The cloud', reason='it is not configured')
