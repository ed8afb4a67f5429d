# SPDX-License-Identifier: Apache-2.0

"""Types that operators declare: ``custom:<name>``, one class for all of them.

Licences, instruments, racks: Climate books them, shows which lease has which of
them when, and changes nothing in the cloud.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.allocation import requirements
from climate.cloud.base import Cloud
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.domain.leases import YieldMode
from climate.domain.resource_types import Declaration
from climate.domain.resources import Inventory
from climate.plugins import contract
from climate.plugins import instructions
from climate.plugins import models
from climate.plugins.custom.facts import CustomFacts
from climate.plugins.custom.request import CustomRequest
from climate.plugins.custom.request import SlotRequest
from climate.plugins.custom.request import WholeRequest


class Custom(contract.Plugin[CustomRequest]):
    """Reserves what operators declared.

    :ivar declaration: the type as they declared it
    """

    # No object in the cloud prevents a smaller reservation.
    shrinks: ClassVar[bool] = True
    resource_schema: ClassVar[Mapping[str, Any]] = contract.BY_NAME

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self.exclusive = declaration.exclusive
        self.classes = tuple(item.resource_class for item in declaration.classes)
        # Elsewhere each class is a resource type; here each instance is one.
        self.nouns = declaration.nouns  # type: ignore[misc]  # each instance is a type
        self.resource_type = declaration.name  # type: ignore[misc]  # each instance is a type
        # The same applies to the model of requests.
        self.request_model = (  # type: ignore[misc]  # each instance is a type
            WholeRequest if declaration.exclusive else SlotRequest
        )
        self.request_schema = self._schema()  # type: ignore[misc]  # each instance is a type

    @classmethod
    def from_conf(cls, conf: Any) -> Custom:  # noqa: ARG003  none of it is read
        """Refuse, since these types are declared, not installed.

        :raises climate.exceptions.ConfigurationError: always
        """
        raise exceptions.ConfigurationError('types are declared in [custom] types_file')

    @property
    def description(self) -> str:
        """The description that operators gave the type."""
        return self.declaration.description

    # -- pure half

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> CustomRequest:
        """Parse the body of a new reservation; see :class:`climate.plugins.contract.Plugin`."""
        return self._checked(super().parse(body, strict=strict))

    def change(
        self,
        request: CustomRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> CustomRequest:
        """Return *request* with a client's changes applied."""
        changed = models.of(type(request)).change(
            request, body, self.resource_type, strict=strict, running=running
        )
        if isinstance(changed, SlotRequest) and changed.resources == request.resources:
            return changed
        return self._checked(changed)

    def dump(self, request: CustomRequest) -> dict[str, Any]:
        """Return *request* as JSON values, for the database."""
        return models.of(type(request)).dump(request)

    def load(self, stored: Mapping[str, Any]) -> CustomRequest:
        """Return the request that :meth:`dump` wrote.

        The class follows from the keys, not from the declaration: another process can
        have changed the type while no lease used it.
        """
        if 'amount' in stored:
            return models.of(SlotRequest).load(stored)
        return models.of(WholeRequest).load(stored)

    def _checked(self, request: CustomRequest) -> CustomRequest:
        """Return *request* if the declaration allows it, with the default resources."""
        if isinstance(request, WholeRequest):
            if request.minimum > request.maximum:
                raise exceptions.InvalidRange(what=self.declaration.noun)
            return request
        if not request.resources:
            if len(self.classes) > 1:
                raise exceptions.MissingParameter(param='resources')
            return dataclasses.replace(request, resources={self.classes[0]: 1})
        unknown = sorted(set(request.resources) - set(self.classes))
        if unknown:
            raise exceptions.MalformedParameter.of(
                'resources', f"'{unknown[0][:60]}' is not one of " + ', '.join(self.classes)
            )
        return request

    def _schema(self) -> dict[str, Any]:
        """Return the schema of a request, with the classes of the type."""
        schema = self.model.schema(self.resource_type)
        if self.exclusive:
            return schema
        resources = schema['properties']['resources']
        resources.pop('default', None)
        units = resources['anyOf'][0]
        units['properties'] = dict.fromkeys(self.classes, units['additionalProperties'])
        units['additionalProperties'] = False
        if len(self.classes) > 1:
            schema['required'].append('resources')
            resources['anyOf'] = [units]
        return schema

    def yields(self, request: CustomRequest) -> frozenset[YieldMode]:
        """Return how the reservation can yield: those who use its resources keep their work."""
        return frozenset(YieldMode)

    def search(self, request: CustomRequest) -> contract.Search:
        """Describe the resources that the request can use."""
        return contract.Search(
            resource_type=self.resource_type,
            minimum=request.minimum,
            maximum=request.maximum,
            requirement=requirements.parse(request.resource_properties),
            noun=self.declaration.noun,
            demand=request.resources,
            spread=request.spread,
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the request and, while the lease is active, its resources."""
        return {**reservation.request, 'allocated': list(CustomFacts.of(reservation).allocated)}

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[contract.Instruction]:
        """Return the announced properties of its resources, such as an address."""
        return [
            contract.Instruction(name='announced', title=f'{name} of {one["name"]}', value=value)
            for one in CustomFacts.of(reservation).allocated[: instructions.MOST]
            for name, value in one['properties'].items()
        ]

    # -- effect half: facts for users only

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Record the resources of the lease, for the API and for notifications."""
        return self._record(work, self._allocated(work))

    def check(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Record the present properties of the resources."""
        return self.start(work, cloud)

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Delete the record of the resources."""
        return self._record(work, ())

    def _record(self, work: contract.Work, allocated: tuple[dict[str, Any], ...]) -> contract.Done:
        facts = dataclasses.replace(CustomFacts.of(work.reservation), allocated=allocated)
        return contract.Done(facts=facts.changes(work.reservation))

    def _allocated(self, work: contract.Work) -> tuple[dict[str, Any], ...]:
        amounts: defaultdict[int | None, dict[str, int]] = defaultdict(dict)
        for item in work.allocations:
            mine = amounts[item.resource_id]
            if item.resource_class is not None:
                mine[item.resource_class] = mine.get(item.resource_class, 0) + item.amount
        return tuple(
            {
                'id': str(resource.id),
                'name': resource.name,
                'resources': amounts[resource.id],
                'properties': {
                    name: resource.capabilities[name]
                    for name in self.declaration.announce
                    if name in resource.capabilities
                },
            }
            for resource in sorted(work.resources, key=lambda one: one.name)
            if resource.id in amounts
        )

    # -- resources

    def stock(self, declared: Sequence[Inventory]) -> tuple[Inventory, ...]:
        """Return an inventory of each class, by default that of the declaration.

        :raises climate.exceptions.InvalidInput: naming the invalid one
        """
        wanted = {item.resource_class: item for item in declared}
        if len(wanted) < len(declared):
            raise exceptions.MalformedParameter.of('inventories', 'a class may be given once only')
        unknown = sorted(set(wanted) - set(self.classes))
        if unknown:
            raise exceptions.MalformedParameter.of(
                'inventories', f"'{unknown[0]}' is no class of {self.resource_type}"
            )
        return tuple(
            _stocked(wanted.get(item.resource_class, item)) for item in self.declaration.classes
        )


def _stocked(item: Inventory) -> Inventory:
    if not item.total:
        raise exceptions.MissingParameter(param=f'inventories.{item.resource_class}')
    return item
