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

"""Room for instances of a flavor that exists: ``flavor:instance``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.clients.base import Cloud
from climate.clients.base import Flavor
from climate.domain.leases import Reservation
from climate.plugins import base
from climate.plugins import fields
from climate.plugins import instance_marks
from climate.plugins import instance_needs
from climate.plugins.instances import Instances
from climate.plugins.physical_host import RESOURCE_TYPE as HOST_TYPE

RESOURCE_TYPE = 'flavor:instance'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FlavorRequest:
    """What somebody wants: room for ``amount`` servers of a flavor.

    :ivar resource_properties: requirement on hosts; JSON text or ''
    :ivar source: the flavor as the caller saw it when it was asked for; None
        until it was looked at
    """

    flavor_id: str
    amount: int
    resource_properties: str = ''
    source: Flavor | None = None


class FlavorInstance(Instances[FlavorRequest]):
    """Leases room for servers of a flavor, by a copy of it."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    inspects: ClassVar[bool] = True
    request_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'required': ['resource_type', 'flavor_id', 'amount'],
        'properties': {
            'resource_type': {'const': RESOURCE_TYPE},
            'flavor_id': {**fields.TEXT, 'type': ['string', 'integer'], 'minLength': 1},
            'amount': fields.COUNT,
            'affinity': fields.AFFINITY,
            'resource_properties': fields.REQUIREMENT,
        },
    }

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> FlavorRequest:
        """Read what a client sent; see :class:`climate.plugins.base.Plugin`.

        :raises climate.exceptions.Conflict: if affinity is wanted
        """
        fields.known(body, self.request_schema, strict=strict)
        _refuse_affinity(body)
        return FlavorRequest(
            flavor_id=_flavor_id(body),
            amount=fields.count(body, 'amount'),
            resource_properties=fields.requirement(body, 'resource_properties'),
        )

    def change(
        self,
        request: FlavorRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> FlavorRequest:
        """Return *request* with the changes a client sent.

        :param running: the reservation is active: servers of its flavor are there
        """
        fields.known(body, self.request_schema, strict=strict, also=('id',))
        _refuse_affinity(body)
        changes: dict[str, Any] = {}
        if body.get('amount') is not None:
            changes['amount'] = fields.count(body, 'amount')
        if body.get('resource_properties') is not None:
            changes['resource_properties'] = fields.requirement(body, 'resource_properties')
        if body.get('flavor_id') is not None and _flavor_id(body) != request.flavor_id:
            if running:
                raise exceptions.CantUpdateParameter(param='flavor_id')
            changes |= {'flavor_id': _flavor_id(body), 'source': None}
        return dataclasses.replace(request, **changes)

    def inspect(
        self,
        request: FlavorRequest,
        cloud: Callable[[], Cloud],
        project_id: str,
    ) -> FlavorRequest:
        """Look at the flavor, as the caller sees it, unless that was done before.

        :raises climate.exceptions.InvalidInput: if the caller sees none of this
            id, or none that can be reserved
        """
        if request.source is not None:
            return request
        found = cloud().compute.find_flavor(request.flavor_id)
        if found is None:
            raise exceptions.InvalidInput(f"Flavor '{request.flavor_id}' not found")
        if instance_marks.RESERVATION_KEY in found.extra_specs:
            raise exceptions.InvalidInput(
                f"Flavor '{request.flavor_id}' is of a reservation and cannot be reserved"
            )
        if not instance_needs.demand(found):
            raise exceptions.InvalidInput(
                f"Flavor '{request.flavor_id}' needs nothing that could be reserved"
            )
        return dataclasses.replace(request, source=found)

    def dump(self, request: FlavorRequest) -> dict[str, Any]:
        """Return *request* as JSON values."""
        source = request.source
        return {
            'flavor_id': request.flavor_id,
            'amount': request.amount,
            'resource_properties': request.resource_properties,
            'source': None if source is None else dataclasses.asdict(source),
        }

    def load(self, stored: Mapping[str, Any]) -> FlavorRequest:
        """Return the request that :meth:`dump` wrote."""
        source = stored['source']
        return FlavorRequest(
            flavor_id=stored['flavor_id'],
            amount=stored['amount'],
            # Reservations of releases before did not have it.
            resource_properties=stored.get('resource_properties', ''),
            source=None if source is None else Flavor(**source),
        )

    def search(self, request: FlavorRequest) -> base.Search:
        """Say which hosts the request can use, and how much of them.

        :raises climate.exceptions.InvalidInput: if the flavor was not looked at
        """
        source = self.template(request)
        return base.Search(
            resource_type=HOST_TYPE,
            minimum=request.amount,
            maximum=request.amount,
            requirement=requirements.parse(request.resource_properties),
            noun='hosts',
            demand=instance_needs.demand(source),
            required_traits=instance_needs.traits(source, 'required'),
            forbidden_traits=instance_needs.traits(source, 'forbidden'),
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of instances in the API's answer."""
        request = self.load(reservation.request)
        source = self.template(request)
        return {
            'vcpus': source.vcpus,
            'memory_mb': source.memory_mb,
            'disk_gb': source.disk_gb,
            'amount': request.amount,
            'affinity': None,
            'resource_properties': request.resource_properties,
            'flavor_id': reservation.id,
            'aggregate_id': reservation.facts.get('aggregate_id'),
            'server_group_id': None,
        }

    def template(self, request: FlavorRequest) -> Flavor:
        """Return the flavor that servers are to be like."""
        if request.source is None:
            raise exceptions.InvalidInput(f"Flavor '{request.flavor_id}' was not looked at")
        return request.source


def _refuse_affinity(body: Mapping[str, Any]) -> None:
    if fields.affinity(body, 'affinity') is not None:
        raise exceptions.Conflict('Affinity not supported yet')


def _flavor_id(body: Mapping[str, Any]) -> str:
    """Return the id of a flavor, which clients send as a number if it looks like one."""
    return fields.text(body, 'flavor_id', required=True)
