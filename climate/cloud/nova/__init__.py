# SPDX-License-Identifier: Apache-2.0

"""Nova, over python-novaclient.

:mod:`climate.cloud.base` defines the errors that callers must expect, and
:mod:`climate.cloud.errors` maps the errors of Nova to them. Every request has a
time-out. If Nova does not respond, the library repeats the request, once by default
(``[nova] connect_retries``), unless it creates something: after a time-out it is
unknown whether the object exists. The client caches nothing and has no state, so
threads may share it.

Nova returns 404 both if an aggregate is missing and if a host is not in it, and 409
both for a conflict and for an object that exists already. In these cases the client
reads the object again before it raises an error.

Requests use the configured microversion. If a module needs a particular one, its
docstring says why.
"""

from __future__ import annotations

from typing import Any

from climate.cloud.errors import Errors
from climate.cloud.nova.aggregates import NovaAggregates
from climate.cloud.nova.flavors import NovaFlavors
from climate.cloud.nova.hypervisors import NovaHypervisors
from climate.cloud.nova.hypervisors import NovaServices
from climate.cloud.nova.server_groups import NovaServerGroups
from climate.cloud.nova.servers import NovaServers
from climate.cloud.nova.verbs import ClientFactory

__all__ = ['NovaCompute']


class NovaCompute(
    NovaHypervisors, NovaServices, NovaServers, NovaAggregates, NovaFlavors, NovaServerGroups
):
    """Implements :class:`climate.cloud.base.Compute`.

    :param microversion: the microversion of the compute API, from 2.53 to 2.87
    :param errors: for Nova
    :param az_aware: whether to look up the availability zones of hypervisors
    :param connect_retries: how often to repeat a request without a response
    :param adapter: further arguments of the keystoneauth adapter, including the
        session
    """

    def __init__(
        self,
        *,
        microversion: str,
        errors: Errors,
        az_aware: bool,
        connect_retries: int,
        **adapter: Any,
    ) -> None:
        clients = ClientFactory(microversion, connect_retries, adapter)
        super().__init__(clients, errors, az_aware)
