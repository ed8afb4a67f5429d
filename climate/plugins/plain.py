# SPDX-License-Identifier: Apache-2.0

"""Conversion of the values of requests to JSON and back, for the database."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Mapping
from typing import Any

_SCALARS = (str, int, float, bool, types.NoneType)


def scalar(hint: Any) -> bool:
    """Whether JSON can represent values of type *hint* as they are."""
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return all(kind in _SCALARS for kind in kinds)


def dumped(value: Any) -> Any:
    """Return a value in its JSON form."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple):
        return [dumped(each) for each in value]
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, 'dump'):
        return value.dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value


def loader(hint: Any) -> Callable[[Any], Any] | None:
    """Return a function from the JSON form to values of type *hint*; None if both are the same."""
    if isinstance(hint, types.UnionType):
        inner = [each for each in typing.get_args(hint) if each is not types.NoneType]
        made = loader(inner[0]) if len(inner) == 1 else None
        return None if made is None else lambda value: None if value is None else made(value)
    if typing.get_origin(hint) is tuple:
        return tuple
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint
    if hasattr(hint, 'dump') and hasattr(hint, 'load'):
        return hint.load
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return lambda value: hint(**value)
    return None


def grouped(values: Mapping[str, Any], groups: Mapping[str, Collection[str]]) -> dict[str, Any]:
    """Return *values* with some of them in objects; null replaces an object of empty values.

    :param groups: the keys in each object, by its name
    """
    remaining = dict(values)
    for name, keys in groups.items():
        inside = {key: remaining.pop(key) for key in values if key in keys}
        remaining[name] = inside if any(inside.values()) else None
    return remaining


def flat(stored: Mapping[str, Any], groups: Mapping[str, Collection[str]]) -> dict[str, Any]:
    """Return the values that :func:`grouped` put into objects.

    :raises TypeError: if an object has other keys, such as a ciphertext without its key
    """
    values = dict(stored)
    for name, keys in groups.items():
        inside = values.pop(name, None) or {}
        unknown = sorted(inside.keys() - set(keys))
        if unknown:
            raise TypeError(f'{name} has unknown keys: {", ".join(unknown)}')
        values |= inside
    return values
