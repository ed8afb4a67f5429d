# SPDX-License-Identifier: Apache-2.0

"""Room for instances of an existing flavor: ``flavor:instance``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Annotated
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.cloud.base import Cloud
from climate.cloud.base import Flavor
from climate.domain.leases import Reservation
from climate.plugins import contract
from climate.plugins import fields
from climate.plugins import models
from climate.plugins import schemas
from climate.plugins.fields import Fixed
from climate.plugins.host.plugin import RESOURCE_TYPE as HOST_TYPE
from climate.plugins.host.pools import HostSettings
from climate.plugins.instance import demand
from climate.plugins.instance import extra_specs
from climate.plugins.instance import names
from climate.plugins.instance.extra_specs import DeclaredSpecs
from climate.plugins.instance.facts import InstanceFacts
from climate.plugins.instance.plugin import Instances

RESOURCE_TYPE = 'flavor:instance'


@dataclasses.dataclass(frozen=True)
class NoAffinity(fields.Flag):
    """The value that clients send for affinity, which is not supported yet."""

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return {'type': 'string', 'pattern': r'^\s*(?:[Nn][Oo][Nn][Ee])?\s*$'}

    def read(self, value: Any) -> None:
        """Return nothing.

        :raises climate.exceptions.Conflict: if affinity is requested
        """
        if super().read(value) is not None:
            raise exceptions.Conflict('Affinity not supported yet')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FlavorRequest(models.Request):
    """Room for ``amount`` servers of a flavor.

    :ivar source: the flavor as the caller saw it when it was inspected; None
        before that
    """

    flavor_id: Annotated[
        str, fields.Text('The flavor, by its id in Nova.', required=True, fixed=Fixed.RUNNING)
    ]
    amount: Annotated[int, fields.Count('The number of servers.')]
    resource_properties: Annotated[str, fields.Requirement('A requirement on the hosts.')] = ''
    affinity: Annotated[
        None, NoAffinity('Not supported yet: only an empty text or none.', kept=False)
    ] = None
    source: Flavor | None = None


class FlavorInstance(Instances[FlavorRequest]):
    """Leases room for servers of a flavor, by a copy of it."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    inspects: ClassVar[bool] = True
    request_model: ClassVar[type[models.Request]] = FlavorRequest

    def __init__(
        self, settings: HostSettings | None = None, declared: DeclaredSpecs | None = None
    ) -> None:
        super().__init__(settings)
        self._declared = declared or DeclaredSpecs()

    @classmethod
    def from_conf(cls, conf: Any) -> FlavorInstance:
        """Return the plugin, configured from *conf*."""
        return cls(HostSettings.from_conf(conf), DeclaredSpecs.from_conf(conf))

    def change(
        self,
        request: FlavorRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> FlavorRequest:
        """Return *request* with a client's changes applied; a new flavor is inspected again."""
        changed = super().change(request, body, strict=strict, running=running)
        if changed.flavor_id == request.flavor_id:
            return changed
        return dataclasses.replace(changed, source=None)

    def inspect(
        self, request: FlavorRequest, cloud: Callable[[], Cloud], project_id: str
    ) -> FlavorRequest:
        """Look the flavor up as the caller sees it, unless the request has it already.

        :raises climate.exceptions.InvalidInput: if the caller cannot see the
            flavor, or it cannot be reserved
        """
        if request.source is not None:
            return request
        flavor = cloud().compute.find_flavor(request.flavor_id)
        if flavor is None:
            raise exceptions.InvalidInput(f"Flavor '{request.flavor_id}' not found")
        if names.RESERVATION_KEY in flavor.extra_specs:
            raise exceptions.InvalidInput(
                f"Flavor '{request.flavor_id}' is of a reservation and cannot be reserved"
            )
        refused = '; '.join(extra_specs.refused(flavor, self._declared))
        if refused:
            raise exceptions.InvalidInput(
                f"Flavor '{request.flavor_id}' cannot be reserved because of its extra specs: "
                f'{refused}'
            )
        if not self._demand_of(flavor):
            raise exceptions.InvalidInput(
                f"Flavor '{request.flavor_id}' needs nothing that could be reserved"
            )
        return dataclasses.replace(request, source=flavor)

    def search(self, request: FlavorRequest) -> contract.Search:
        """Describe the hosts that the request can use, and how much of them.

        :raises climate.exceptions.InvalidInput: if the flavor was not inspected
        """
        source = self.template(request)
        return contract.Search(
            resource_type=HOST_TYPE,
            minimum=request.amount,
            maximum=request.amount,
            requirement=requirements.parse(request.resource_properties),
            noun='hosts',
            demand=self.demand(request),
            required_traits=demand.traits(source, 'required'),
            forbidden_traits=demand.traits(source, 'forbidden'),
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of instances in the API's response."""
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
            'aggregate_id': InstanceFacts.of(reservation).aggregate_id,
            'server_group_id': None,
        }

    def demand(self, request: FlavorRequest) -> dict[str, int]:
        """Return the units of each resource class that a server takes."""
        return self._demand_of(self.template(request))

    def _demand_of(self, flavor: Flavor) -> dict[str, int]:
        return demand.demand(flavor, self._declared)

    def template(self, request: FlavorRequest) -> Flavor:
        """Return the flavor that the servers copy."""
        if request.source is None:
            raise exceptions.InvalidInput(f"Flavor '{request.flavor_id}' was not looked at")
        return request.source
