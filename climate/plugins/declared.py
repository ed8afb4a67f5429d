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
    found = []
    for each in dataclasses.fields(request):
        hint = hints[each.name]
        marks = [mark for mark in getattr(hint, '__metadata__', ()) if isinstance(mark, Field)]
        field = marks[0] if marks else None
        bare = getattr(hint, '__origin__', hint) if field else hint
        default = each.default
        if each.default_factory is not dataclasses.MISSING:
            default = each.default_factory()
        found.append(
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
    return found
