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

"""Nova, over python-novaclient.

Failure and drift: see :mod:`climate.clients.base` for what callers must
expect, and :mod:`climate.clients.errors` for what becomes of errors. Every
call has a time-out. A request that got no answer is sent once more by the
library, except requests that create something: after a time-out it is unknown
whether it was created. Nothing here is cached, and there is no state, so an
object may be used from many threads.

Nova says 404 both when an aggregate is missing and when a host is not in it,
and 409 both for a conflict and for an existing object: these verbs look
again before they raise.

Microversions: hypervisors, servers and aggregates are asked for in that of the
configuration. Where an answer has what we need in some microversions only, the
module says which one it asks for.
"""

from __future__ import annotations

from typing import Any

from climate.clients.errors import Errors
from climate.clients.nova.aggregates import NovaAggregates
from climate.clients.nova.attachments import NovaAttachments
from climate.clients.nova.flavors import NovaFlavors
from climate.clients.nova.hypervisors import NovaHypervisors
from climate.clients.nova.server_groups import NovaServerGroups
from climate.clients.nova.servers import NovaServers
from climate.clients.nova.services import NovaServices
from climate.clients.nova.verbs import Library

__all__ = ['NovaCompute']


class NovaCompute(
    NovaHypervisors,
    NovaServices,
    NovaServers,
    NovaAttachments,
    NovaAggregates,
    NovaFlavors,
    NovaServerGroups,
):
    """Implements :class:`climate.clients.base.Compute`.

    :param microversion: of the compute API, from 2.53 to 2.87
    :param errors: for Nova
    :param az_aware: whether zones of hypervisors are looked up
    :param connect_retries: how often a request without an answer is repeated
    :param adapter: further arguments of the keystoneauth adapter, the session
        among them
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
        library = Library(microversion, connect_retries, adapter)
        super().__init__(library, errors, az_aware)
