# SPDX-License-Identifier: Apache-2.0

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
    """Implements :class:`climate.cloud.base.Compute`."""
