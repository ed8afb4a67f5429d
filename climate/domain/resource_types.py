# SPDX-License-Identifier: Apache-2.0

"""Resource types as operators declare them, and as all users see them."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.domain.nouns import Nouns
from climate.domain.nouns import of_plural
from climate.domain.resources import Inventory

PREFIX: Final = 'custom:'
"""The prefix of the names of declared types."""


class Origin(enum.StrEnum):
    """The origin of a type: a plugin, a file, or the API."""

    CODE = 'code'
    FILE = 'file'
    API = 'api'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Declaration:
    """A resource type about which Climate knows only its declaration.

    :ivar name: begins with :data:`PREFIX`
    :ivar exclusive: whether a reservation takes whole resources; otherwise it takes
        units of *classes*
    :ivar noun: the word for the resources in refusals, such as ``licences``
    :ivar noun_one: the word for one of them; '' for one that is derived from ``noun``
    :ivar classes: the resource classes, each with the default total of a
        resource; with a default of 0, each resource must set its total
    :ivar announce: properties of the allocated resources that users see
    """

    name: str
    description: str = ''
    exclusive: bool = True
    noun: str = 'resources'
    noun_one: str = ''
    classes: tuple[Inventory, ...] = ()
    announce: tuple[str, ...] = ()
    origin: Origin = Origin.API
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None

    @property
    def nouns(self) -> Nouns:
        """What people call one of the resources, and several of them."""
        return Nouns(self.noun_one, self.noun) if self.noun_one else of_plural(self.noun)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResourceType:
    """A resource type that this deployment supports.

    :ivar nouns: what people call one of its resources, and several of them
    :ivar exclusive: whether a reservation takes whole resources
    :ivar classes: the resource classes of which its reservations take units
    :ivar request_schema: JSON schema of a reservation
    :ivar resource_schema: JSON schema of the attributes of a resource; None if
        the type reserves resources of another type
    :ivar declaration: the declaration of an operator; None for the type of a plugin
    """

    name: str
    description: str
    nouns: Nouns
    exclusive: bool
    classes: tuple[str, ...]
    request_schema: Mapping[str, Any]
    resource_schema: Mapping[str, Any] | None
    declaration: Declaration | None = None

    @property
    def origin(self) -> Origin:
        """The origin of this type."""
        return Origin.CODE if self.declaration is None else self.declaration.origin
