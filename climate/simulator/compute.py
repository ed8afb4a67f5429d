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

"""Simulated Nova."""

from __future__ import annotations

from climate.simulator import aggregates
from climate.simulator import attachments
from climate.simulator import flavors
from climate.simulator import hypervisors
from climate.simulator import server_groups
from climate.simulator import servers

SCHEMA = ''.join(
    module.SCHEMA
    for module in (hypervisors, aggregates, flavors, server_groups, servers, attachments)
)


class SimulatedCompute(
    hypervisors.SimulatedHypervisors,
    servers.SimulatedServers,
    attachments.SimulatedAttachments,
    aggregates.SimulatedAggregates,
    flavors.SimulatedFlavors,
    server_groups.SimulatedServerGroups,
):
    """Implements :class:`climate.clients.base.Compute`."""
