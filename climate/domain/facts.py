# SPDX-License-Identifier: Apache-2.0

"""The facts that effects store with a reservation, as values with typed fields.

A type declares its facts as a frozen class::

    @dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
    class HostFacts(AggregateFacts):
        images: Mapping[str, str] = fact(factory=dict)

It reads them with ``HostFacts.of(work.reservation)``, and returns what has
changed with ``Done(facts=facts.changes(work.reservation))``. The store keeps
them as JSON, and managers of two releases read and write the same rows during
an upgrade. Keys therefore never change, and keys that this release does not know
stay untouched.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final
from typing import Self

from climate.domain.leases import Reservation

_KEY: Final = 'key'
_READ: Final = 'read'
_FIRST_VERSION: Final = 1


def fact(
    default: Any = dataclasses.MISSING,
    *,
    factory: Callable[[], Any] | None = None,
    key: str | None = None,
    read: Callable[[Any], Any] | None = None,
) -> Any:
    """Declare a fact.

    :param factory: returns the default, if it is mutable
    :param key: the key in the stored JSON; by default the name of the field
    :param read: converts the stored JSON value into the value of the field
    """
    metadata = {_KEY: key, _READ: read}
    if factory is not None:
        return dataclasses.field(default_factory=factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Facts:
    """The facts of a reservation; each has a default, which is not stored.

    :ivar version: version of the stored format; rows without one have the first
    """

    version: int = _FIRST_VERSION

    @classmethod
    def of(cls, reservation: Reservation) -> Self:
        """Return the facts of a reservation."""
        return cls.load(reservation.facts)

    @classmethod
    def load(cls, stored: Mapping[str, Any]) -> Self:
        """Return the facts that this release or an earlier one has stored.

        Ignores keys that this class does not have, and treats null like a missing key.
        """
        known = {}
        for field in dataclasses.fields(cls):
            value = stored.get(_key(field))
            if value is not None:
                read = field.metadata.get(_READ)
                known[field.name] = value if read is None else read(value)
        return cls(**known)

    def dump(self) -> dict[str, Any]:
        """Return the facts that are not the default, as JSON values."""
        return {
            _key(field): _plain(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != _default(field)
        }

    def changes(self, reservation: Reservation) -> dict[str, Any]:
        """Return facts that differ from those of a reservation; None deletes one."""
        wanted = self.dump()
        return {
            key: wanted.get(key)
            for key in map(_key, dataclasses.fields(self))
            if wanted.get(key) != reservation.facts.get(key)
        }


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AggregateFacts(Facts):
    """The facts of a reservation that has an aggregate of hosts in Nova.

    :ivar aggregate_id: Nova's id of the aggregate; None if there is none
    """

    aggregate_id: int | None = None


def _key(field: dataclasses.Field[Any]) -> str:
    return field.metadata.get(_KEY) or field.name


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _plain(value: Any) -> Any:
    """Return a JSON value."""
    if isinstance(value, Facts):
        return value.dump()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
