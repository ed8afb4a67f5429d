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

"""What operators declare: ``custom:<name>``, one class for all of them.

Licences, instruments, racks: Climate keeps the book on them, tells who has
what and when, and changes nothing in the cloud.
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
from climate.clients.base import Cloud
from climate.domain.leases import Reservation
from climate.domain.resource_types import Declaration
from climate.domain.resources import Inventory
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.domain.resources import Spread
from climate.plugins import base
from climate.plugins import fields


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CustomRequest:
    """What somebody wants: so many whole resources, or so many slots.

    :ivar resources: units by resource class of a slot; empty for whole ones
    :ivar resource_properties: requirement on what operators say; JSON text or ''
    """

    minimum: int
    maximum: int
    resources: Mapping[str, int] = dataclasses.field(default_factory=dict)
    spread: Spread = Spread.ANY
    resource_properties: str = ''


class Custom(base.Plugin[CustomRequest]):
    """Reserves what operators declared.

    :ivar declaration: what they said
    """

    # Nothing of the cloud is in the way.
    shrinks: ClassVar[bool] = True
    resource_schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'additionalProperties': False,
        'properties': {},
    }

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        # A class is a type elsewhere; here each instance is one.
        self.resource_type = declaration.name  # type: ignore[misc]  # each instance is a type
        self.request_schema = _schema(declaration)  # type: ignore[misc]  # each instance is a type

    @classmethod
    def from_conf(cls, conf: Any) -> Custom:  # noqa: ARG003  nothing of it is read
        """Refuse: these types are declared, not installed.

        :raises climate.exceptions.ConfigurationError: always
        """
        raise exceptions.ConfigurationError('types are declared in [custom] types_file')

    @property
    def description(self) -> str:
        """What operators say that it is."""
        return self.declaration.description

    @property
    def exclusive(self) -> bool:
        """Whether a reservation has whole resources."""
        return self.declaration.exclusive

    @property
    def classes(self) -> tuple[str, ...]:
        """The resource classes that are counted."""
        return tuple(item.resource_class for item in self.declaration.classes)

    # -- pure half

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> CustomRequest:
        """Read what a client sent; see :class:`climate.plugins.base.Plugin`."""
        fields.known(body, self.request_schema, strict=strict)
        common: dict[str, Any] = {
            'resource_properties': fields.requirement(body, 'resource_properties')
        }
        if not self.exclusive:
            amount = fields.count(body, 'amount')
            return CustomRequest(
                minimum=amount,
                maximum=amount,
                resources=self._slot(body.get('resources')),
                spread=_spread(body.get('spread')),
                **common,
            )
        if _given(body, 'amount'):
            return CustomRequest(**_amount(body), **common)
        return self._checked(
            CustomRequest(
                minimum=fields.count(body, 'min'), maximum=fields.count(body, 'max'), **common
            )
        )

    def change(
        self,
        request: CustomRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> CustomRequest:
        """Return *request* with the changes a client sent."""
        fields.known(body, self.request_schema, strict=strict, also=('id',))
        changes: dict[str, Any] = {}
        if _given(body, 'amount'):
            changes.update(_amount(body))
        elif self.exclusive:
            for key, name in (('min', 'minimum'), ('max', 'maximum')):
                if body.get(key) is not None:
                    changes[name] = fields.count(body, key)
        if not self.exclusive:
            if body.get('resources') is not None:
                changes['resources'] = self._slot(body['resources'])
            if body.get('spread') is not None:
                changes['spread'] = _spread(body['spread'])
        if body.get('resource_properties') is not None:
            changes['resource_properties'] = fields.requirement(body, 'resource_properties')
        return self._checked(dataclasses.replace(request, **changes))

    def _checked(self, request: CustomRequest) -> CustomRequest:
        if request.minimum > request.maximum:
            raise exceptions.InvalidRange(what=self.declaration.noun)
        return request

    def _slot(self, value: Any) -> dict[str, int]:
        """Return how many units of each class a slot takes."""
        if value is None and len(self.classes) == 1:
            return {self.classes[0]: 1}
        if value is None:
            raise exceptions.MissingParameter(param='resources')
        if not isinstance(value, Mapping) or not value:
            raise exceptions.MalformedParameter(
                'Malformed parameter resources: units by resource class are required'
            )
        unknown = sorted(set(value) - set(self.classes))
        if unknown:
            raise exceptions.MalformedParameter(
                f"Malformed parameter resources: '{unknown[0][:60]}' is not one of "
                + ', '.join(self.classes)
            )
        return {name: fields.count(value, name) for name in sorted(value)}

    def dump(self, request: CustomRequest) -> dict[str, Any]:
        """Return *request* as JSON values."""
        if not request.resources:
            return {
                'min': request.minimum,
                'max': request.maximum,
                'resource_properties': request.resource_properties,
            }
        return {
            'amount': request.minimum,
            'resources': dict(request.resources),
            'spread': request.spread.value,
            'resource_properties': request.resource_properties,
        }

    def load(self, stored: Mapping[str, Any]) -> CustomRequest:
        """Return the request that :meth:`dump` wrote."""
        return CustomRequest(
            minimum=stored.get('amount', stored.get('min')),
            maximum=stored.get('amount', stored.get('max')),
            resources=stored.get('resources', {}),
            spread=Spread(stored.get('spread', Spread.ANY)),
            resource_properties=stored['resource_properties'],
        )

    def search(self, request: CustomRequest) -> base.Search:
        """Say which resources the request can use."""
        return base.Search(
            resource_type=self.resource_type,
            minimum=request.minimum,
            maximum=request.maximum,
            requirement=requirements.parse(request.resource_properties),
            noun=self.declaration.noun,
            demand=request.resources,
            spread=request.spread,
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return what was asked for, and while the lease is active what it has."""
        return {
            **reservation.request,
            'allocated': list(reservation.facts.get('allocated') or ()),
        }

    # -- effect half: nothing but what users are told

    def start(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Remember what the lease has, for those who ask and those who listen."""
        return base.Done(facts={'allocated': self._allocated(work)})

    def check(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Tell what operators say of it now."""
        return self.start(work, cloud)

    def end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Forget what the lease had."""
        return base.Done(facts={'allocated': None})

    def _allocated(self, work: base.Work) -> list[dict[str, Any]]:
        amounts: defaultdict[int | None, dict[str, int]] = defaultdict(dict)
        for item in work.allocations:
            mine = amounts[item.resource_id]
            if item.resource_class is not None:
                mine[item.resource_class] = mine.get(item.resource_class, 0) + item.amount
        return [
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
        ]

    # -- resources

    def discover(self, draft: ResourceDraft, cloud: Cloud) -> Resource:
        """Return the resource as the operator describes it; nobody else knows it."""
        return Resource(
            resource_type=self.resource_type,
            name=draft.name,
            attributes=draft.attributes,
            inventories=self.stock(draft.inventories),
        )

    def stock(self, declared: Sequence[Inventory]) -> tuple[Inventory, ...]:
        """Return an inventory of each class, by default what the type says.

        :raises climate.exceptions.InvalidInput: naming the one that is wrong
        """
        wanted = {item.resource_class: item for item in declared}
        if len(wanted) < len(declared):
            raise exceptions.MalformedParameter(
                'Malformed parameter inventories: a class may be given once only'
            )
        unknown = sorted(set(wanted) - set(self.classes))
        if unknown:
            raise exceptions.MalformedParameter(
                f"Malformed parameter inventories: '{unknown[0]}' is no class of "
                f'{self.resource_type}'
            )
        return tuple(
            _stocked(wanted.get(item.resource_class, item)) for item in self.declaration.classes
        )


def _stocked(item: Inventory) -> Inventory:
    if not item.total:
        raise exceptions.MissingParameter(param=f'inventories.{item.resource_class}')
    return item


def _given(body: Mapping[str, Any], key: str) -> bool:
    return body.get(key) not in (None, '')


def _amount(body: Mapping[str, Any]) -> dict[str, Any]:
    if _given(body, 'min') or _given(body, 'max'):
        raise exceptions.MalformedParameter(
            'Malformed parameter amount: it stands in place of min and max'
        )
    amount = fields.count(body, 'amount')
    return {'minimum': amount, 'maximum': amount}


def _spread(value: Any) -> Spread:
    if value is None or value == '':
        return Spread.ANY
    if value not in list(Spread):
        raise exceptions.MalformedParameter(
            'Malformed parameter spread: one of ' + ', '.join(Spread) + ' is required'
        )
    return Spread(value)


def _schema(declaration: Declaration) -> dict[str, Any]:
    known: dict[str, Any] = {
        'resource_type': {'const': declaration.name},
        'amount': fields.COUNT,
        'resource_properties': fields.REQUIREMENT,
    }
    if declaration.exclusive:
        # Clients send what they leave out as null or as an empty text.
        left_out = {'anyOf': [fields.COUNT, {'enum': [None, '']}]}
        known.update(min=fields.COUNT, max=fields.COUNT, amount=left_out)
        return {'type': 'object', 'required': ['resource_type'], 'properties': known}
    known['spread'] = {'enum': [*Spread, '', None]}
    known['resources'] = {
        'type': ['object', 'null'],
        'additionalProperties': False,
        'properties': {item.resource_class: fields.COUNT for item in declaration.classes},
    }
    return {'type': 'object', 'required': ['resource_type', 'amount'], 'properties': known}
