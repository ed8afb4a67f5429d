# SPDX-License-Identifier: Apache-2.0

"""Room for instances of given sizes: ``virtual:instance``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated
from typing import Any
from typing import ClassVar

from climate.allocation import requirements
from climate.cloud.base import Flavor
from climate.cloud.base import Policy
from climate.domain.leases import Reservation
from climate.domain.resources import Spread
from climate.plugins import contract
from climate.plugins import fields
from climate.plugins import models
from climate.plugins.fields import Fixed
from climate.plugins.host.plugin import RESOURCE_TYPE as HOST_TYPE
from climate.plugins.instance.facts import InstanceFacts
from climate.plugins.instance.plugin import Instances

RESOURCE_TYPE = 'virtual:instance'

_SPREADS = {None: Spread.ANY, True: Spread.TOGETHER, False: Spread.APART}
_POLICIES: Mapping[bool | None, Policy | None] = {
    None: None,
    True: 'affinity',
    False: 'anti-affinity',
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class InstanceRequest(models.Request):
    """Room for ``amount`` servers of a size."""

    vcpus: Annotated[int, fields.Count('Processors of each server.', fixed=Fixed.RUNNING)]
    memory_mb: Annotated[int, fields.Count('Memory of each server, in MiB.', fixed=Fixed.RUNNING)]
    disk_gb: Annotated[
        int, fields.Count('Local disk of each server, in GiB.', least=0, fixed=Fixed.RUNNING)
    ]
    amount: Annotated[int, fields.Count('The number of servers.')]
    affinity: Annotated[
        bool | None,
        fields.Flag(
            'Whether all servers are on one host (true) or each on another one (false); '
            'none if it does not matter.',
            fixed=Fixed.RUNNING,
        ),
    ] = None
    resource_properties: Annotated[str, fields.Requirement('A requirement on the hosts.')] = ''


class VirtualInstance(Instances[InstanceRequest]):
    """Leases room for servers of a size in the request."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    spreads: ClassVar[bool] = True
    classes = ('DISK_GB', 'MEMORY_MB', 'VCPU')
    request_model: ClassVar[type[models.Request]] = InstanceRequest

    def search(self, request: InstanceRequest) -> contract.Search:
        """Describe the hosts that the request can use, and how much of them."""
        return contract.Search(
            resource_type=HOST_TYPE,
            minimum=request.amount,
            maximum=request.amount,
            requirement=requirements.parse(request.resource_properties),
            noun='hosts',
            demand=self.demand(request),
            spread=_SPREADS[request.affinity],
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of instances in the API's response."""
        request = self.load(reservation.request)
        facts = InstanceFacts.of(reservation)
        # A group from before a change of the affinity will soon be deleted.
        group = None if request.affinity is None else facts.server_group_id
        return {
            **self.dump(request),
            'flavor_id': reservation.id,
            'aggregate_id': facts.aggregate_id,
            'server_group_id': group,
        }

    def template(self, request: InstanceRequest) -> Flavor:
        """Return the sizes of the servers."""
        return Flavor(
            id='',
            name='',
            vcpus=request.vcpus,
            memory_mb=request.memory_mb,
            disk_gb=request.disk_gb,
        )

    def demand(self, request: InstanceRequest) -> dict[str, int]:
        """Return the units of each resource class that a server takes."""
        demand = {'VCPU': request.vcpus, 'MEMORY_MB': request.memory_mb, 'DISK_GB': request.disk_gb}
        return {name: amount for name, amount in demand.items() if amount}

    def policy(self, request: InstanceRequest) -> Policy | None:
        """Return how the servers are distributed over hosts."""
        return _POLICIES[request.affinity]
