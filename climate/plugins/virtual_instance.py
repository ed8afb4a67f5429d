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

"""Room for instances of given sizes: ``virtual:instance``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.clients.base import Flavor
from climate.clients.base import Policy
from climate.domain.leases import Reservation
from climate.domain.resources import Spread
from climate.plugins import base
from climate.plugins import fields
from climate.plugins.instances import Instances
from climate.plugins.physical_host import RESOURCE_TYPE as HOST_TYPE

RESOURCE_TYPE = 'virtual:instance'

_SIZES = ('vcpus', 'memory_mb', 'disk_gb')
_SPREADS = {None: Spread.ANY, True: Spread.TOGETHER, False: Spread.APART}
_POLICIES: Mapping[bool | None, Policy | None] = {
    None: None,
    True: 'affinity',
    False: 'anti-affinity',
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class InstanceRequest:
    """What somebody wants: room for ``amount`` servers of a size.

    :ivar memory_mb: MiB of each
    :ivar disk_gb: GiB of each; 0 if they have no local disk
    :ivar affinity: True for all on one host, False for each on another, None
        if it does not matter
    :ivar resource_properties: requirement on hosts; JSON text or ''
    """

    vcpus: int
    memory_mb: int
    disk_gb: int
    amount: int
    affinity: bool | None = None
    resource_properties: str = ''


class VirtualInstance(Instances[InstanceRequest]):
    """Leases room for servers of a size that is told."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    spreads: ClassVar[bool] = True
    request_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'required': ['resource_type', *_SIZES, 'amount'],
        'properties': {
            'resource_type': {'const': RESOURCE_TYPE},
            'vcpus': fields.COUNT,
            'memory_mb': fields.COUNT,
            'disk_gb': fields.SIZE,
            'amount': fields.COUNT,
            'affinity': fields.AFFINITY,
            'resource_properties': fields.REQUIREMENT,
        },
    }

    @property
    def classes(self) -> tuple[str, ...]:
        """The resource classes that are counted."""
        return ('DISK_GB', 'MEMORY_MB', 'VCPU')

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> InstanceRequest:
        """Read what a client sent; see :class:`climate.plugins.base.Plugin`."""
        fields.known(body, self.request_schema, strict=strict)
        return InstanceRequest(
            vcpus=fields.count(body, 'vcpus'),
            memory_mb=fields.count(body, 'memory_mb'),
            disk_gb=fields.count(body, 'disk_gb', least=0),
            amount=fields.count(body, 'amount'),
            affinity=fields.affinity(body, 'affinity'),
            resource_properties=fields.requirement(body, 'resource_properties'),
        )

    def change(
        self,
        request: InstanceRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> InstanceRequest:
        """Return *request* with the changes a client sent.

        :param running: the reservation is active: servers of its size are there
        """
        fields.known(body, self.request_schema, strict=strict, also=('id',))
        sent = {key: value for key, value in body.items() if value is not None}
        changes: dict[str, Any] = {
            key: fields.count(sent, key, least=0 if key == 'disk_gb' else 1)
            for key in (*_SIZES, 'amount')
            if key in sent
        }
        if 'affinity' in sent:
            changes['affinity'] = fields.affinity(sent, 'affinity')
        if 'resource_properties' in sent:
            changes['resource_properties'] = fields.requirement(sent, 'resource_properties')
        for key in (*_SIZES, 'affinity') if running else ():
            if changes.get(key, getattr(request, key)) != getattr(request, key):
                raise exceptions.CantUpdateParameter(param=key)
        return dataclasses.replace(request, **changes)

    def dump(self, request: InstanceRequest) -> dict[str, Any]:
        """Return *request* as JSON values."""
        return dataclasses.asdict(request)

    def load(self, stored: Mapping[str, Any]) -> InstanceRequest:
        """Return the request that :meth:`dump` wrote."""
        return InstanceRequest(**stored)

    def search(self, request: InstanceRequest) -> base.Search:
        """Say which hosts the request can use, and how much of them."""
        demand = {
            'VCPU': request.vcpus,
            'MEMORY_MB': request.memory_mb,
            'DISK_GB': request.disk_gb,
        }
        return base.Search(
            resource_type=HOST_TYPE,
            minimum=request.amount,
            maximum=request.amount,
            requirement=requirements.parse(request.resource_properties),
            noun='hosts',
            demand={name: amount for name, amount in demand.items() if amount},
            spread=_SPREADS[request.affinity],
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of instances in the API's answer."""
        request = self.load(reservation.request)
        # One that it had before it was changed is gone soon.
        group = None if request.affinity is None else reservation.facts.get('server_group_id')
        return {
            **self.dump(request),
            'flavor_id': reservation.id,
            'aggregate_id': reservation.facts.get('aggregate_id'),
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

    def policy(self, request: InstanceRequest) -> Policy | None:
        """Return how servers are to lie on hosts."""
        return _POLICIES[request.affinity]
