# SPDX-License-Identifier: Apache-2.0

"""The requests of declared types: whole resources, or slots on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Any
from typing import ClassVar
from typing import Self

from climate import exceptions
from climate.domain.resources import Spread
from climate.plugins import fields
from climate.plugins import models
from climate.plugins import schemas

_NOTHING = {'enum': [None, '']}
_SOMETHING = {'not': _NOTHING}
_EITHER = {
    'if': schemas.given('amount'),
    'then': {'properties': {'min': _NOTHING, 'max': _NOTHING}},
    'else': {'required': ['min', 'max'], 'properties': {'min': _SOMETHING, 'max': _SOMETHING}},
}


@dataclasses.dataclass(frozen=True)
class Units(fields.Kind):
    """Units by resource class."""

    kind = 'object'
    unit: ClassVar[fields.Count] = fields.Count('Units of a class.')

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes; each type has its own classes."""
        return {
            'anyOf': [
                {'type': 'object', 'minProperties': 1, 'additionalProperties': self.unit.schema}
            ]
        }

    def read(self, value: Any) -> dict[str, int]:
        """Return the units."""
        if not isinstance(value, Mapping) or not value:
            raise fields.Fault('units by resource class are required')
        return {name: self._units(name, value[name]) for name in sorted(value)}

    def _units(self, name: str, value: Any) -> int:
        try:
            if value is None:
                raise fields.Fault('', exceptions.MissingParameter)
            return self.unit.read(value)
        except fields.Fault as fault:
            raise fields.Fault(fault.why, fault.error, key=name) from None


@dataclasses.dataclass(frozen=True)
class Bound(fields.Count):
    """A number, or an empty text (read as 0) in a request with an amount."""

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return {'anyOf': [*super().schema['anyOf'], {'enum': ['']}]}

    def read(self, value: Any) -> int:
        """Return the number."""
        return 0 if value == '' else super().read(value)


@dataclasses.dataclass(frozen=True)
class Spreading(fields.OneOf):
    """How slots are distributed over resources."""

    words: Sequence[str] = tuple(each.value for each in Spread)

    def read(self, value: Any) -> Spread:
        """Return the distribution."""
        return Spread(super().read(value))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WholeRequest(models.Request):
    """Between ``minimum`` and ``maximum`` whole resources."""

    minimum: Annotated[int, Bound('The smallest number of resources.', key='min')] = 0
    maximum: Annotated[int, Bound('The largest number of resources.', key='max')] = 0
    amount: Annotated[
        int,
        fields.Count('The number of resources, in place of min and max.', blank=True, kept=False),
    ] = 0
    resource_properties: Annotated[
        str, fields.Requirement('A requirement on the properties of the resources.')
    ] = ''

    rules: ClassVar[Mapping[str, Any]] = {'allOf': [_EITHER]}
    unstated: ClassVar[tuple[str, ...]] = ('min must not be larger than max.',)

    @classmethod
    def complete(
        cls, values: dict[str, Any], given: Collection[str], before: Self | None
    ) -> dict[str, Any]:
        """Use an amount for both numbers.

        :raises climate.exceptions.InvalidInput: if a request has both, or a new one neither
        """
        if 'amount' in given:
            if values.get('minimum') or values.get('maximum'):
                raise exceptions.MalformedParameter.of('amount', 'it replaces min and max')
            amount = values.pop('amount')
            return {**values, 'minimum': amount, 'maximum': amount}
        for name, key in (('minimum', 'min'), ('maximum', 'max')):
            if not values.get(name, 1 if before else 0):
                raise exceptions.MissingParameter(param=key)
        return values

    @property
    def resources(self) -> Mapping[str, int]:
        """The units of a slot: none, since resources are whole."""
        return {}

    @property
    def spread(self) -> Spread:
        """The distribution of slots: any, since resources are whole."""
        return Spread.ANY


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SlotRequest(models.Request):
    """Some slots on resources."""

    amount: Annotated[int, fields.Count('The number of slots.', blank=True)]
    resources: Annotated[
        Mapping[str, int],
        Units(
            'The units of each resource class that a slot takes; if the type has one class '
            'only, the default is one unit of it.'
        ),
    ] = dataclasses.field(default_factory=dict)
    spread: Annotated[
        Spread,
        Spreading(
            'Whether the slots lie anywhere, together on one resource, or apart on different ones.',
            otherwise='one of ' + ', '.join(Spread) + ' is required',
            blank=True,
        ),
    ] = Spread.ANY
    resource_properties: Annotated[
        str, fields.Requirement('A requirement on the properties of the resources.')
    ] = ''

    @property
    def minimum(self) -> int:
        """The smallest number of slots."""
        return self.amount

    @property
    def maximum(self) -> int:
        """The largest number of slots."""
        return self.amount


CustomRequest = WholeRequest | SlotRequest
