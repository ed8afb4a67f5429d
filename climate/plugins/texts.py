# SPDX-License-Identifier: Apache-2.0

"""Which characters the texts of reservations may have."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate.domain.names import Characters
from climate.plugins import declared
from climate.plugins.contract import Plugin
from climate.plugins.fields import Field
from climate.plugins.fields import Requirement

_ORDER = list(Characters)


def in_reservations(plugins: Iterable[Plugin[Any]]) -> Mapping[str, Characters]:
    """Return the fields of reservations that may have more than one line, by their keys.

    A key that several types use may have what any of them allows; each type still checks its
    own field.
    """
    by_key: dict[str, Characters] = {}
    for plugin in plugins:
        request = getattr(plugin, 'request_model', None)
        for each in [] if request is None else declared.of(request):
            allowed = _allowed(each.field)
            if allowed is not Characters.ONE_LINE:
                known = by_key.get(each.key, Characters.ONE_LINE)
                by_key[each.key] = max(known, allowed, key=_ORDER.index)
    return by_key


def _allowed(field: Field | None) -> Characters:
    if isinstance(field, Requirement) or getattr(field, 'lines', False):
        return Characters.LINES
    # A kind of field for programs says so.
    allowed: Characters = getattr(field, 'characters', Characters.ONE_LINE)
    return allowed
