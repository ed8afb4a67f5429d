# SPDX-License-Identifier: Apache-2.0

"""Offers as JSON objects, as the database stores them."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any

from climate.domain.offers import Offer


def written(offer: Offer) -> dict[str, Any]:
    """Return an offer as a JSON object."""
    content: dict[str, Any] = _plain(dataclasses.asdict(offer))
    if not offer.displaced:
        # Processes of the release before do not know it.
        del content['displaced']
    return content


def read(stored: Mapping[str, Any]) -> Offer:
    """Return the offer that :func:`written` has written."""
    offer: Offer = _value(Offer, stored)
    return offer


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.isoformat() if isinstance(value, datetime.datetime) else value


def _value(kind: Any, stored: Any) -> Any:
    """Return a stored value as one of the type that a field of a dataclass has."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if stored is None:
        return None
    if origin in (types.UnionType, typing.Union):
        (kind,) = (each for each in arguments if each is not types.NoneType)
        return _value(kind, stored)
    if origin is tuple:
        return tuple(_value(arguments[0], each) for each in stored)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: _value(hints[name], each) for name, each in stored.items()})
    if kind is datetime.datetime:
        return datetime.datetime.fromisoformat(stored)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(stored)
    return stored


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
