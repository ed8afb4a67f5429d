# SPDX-License-Identifier: Apache-2.0
"""The fields that a request's class declares."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from typing import Any

from climate.plugins import plain
from climate.plugins.fields import Field


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class DeclaredField:
    """A field of a request's class; *field* is None if clients cannot set it.

    :ivar scalar: whether JSON can represent its values as they are
    """

    name: str
    key: str
    hint: Any
    field: Field | None
    default: Any
    load: Callable[[Any], Any] | None
    scalar: bool

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is dataclasses.MISSING


def of(request: type[Any]) -> list[DeclaredField]:
    """Return the fields of a request's class, in the order of their declaration."""
    hints = typing.get_type_hints(request, include_extras=True)
    fields = []
    for each in dataclasses.fields(request):
        hint = hints[each.name]
        marks = [mark for mark in getattr(hint, '__metadata__', ()) if isinstance(mark, Field)]
        field = marks[0] if marks else None
        bare = getattr(hint, '__origin__', hint) if field else hint
        default = each.default
        if each.default_factory is not dataclasses.MISSING:
            default = each.default_factory()
        fields.append(
            DeclaredField(
                name=each.name,
                key=(field.key if field else '') or each.name,
                hint=hint,
                field=field,
                default=default,
                load=plain.loader(bare),
                scalar=plain.scalar(bare),
            )
        )
    return fields
