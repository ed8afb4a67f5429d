# SPDX-License-Identifier: Apache-2.0

"""Ids that users have shortened, as tables in a terminal show them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from typing import Final

from osc_lib import exceptions

_BEGINNING: Final = re.compile('[0-9a-f][0-9a-f-]{3,35}', re.IGNORECASE)


def found(candidates: Iterable[Any], text: str, noun: str) -> Any:
    """Return the object whose id begins with a text.

    :param candidates: the objects that the caller sees; they are read only if the text can be
        the beginning of an id
    :param noun: what they are, for the message
    :raises osc_lib.exceptions.CommandError: if there is none, or if there are several
    """
    matching = []
    if _BEGINNING.fullmatch(text):
        matching = [each for each in candidates if str(each.id).startswith(text.lower())]
    if len(matching) > 1:
        ids = ', '.join(sorted(str(each.id) for each in matching))
        raise exceptions.CommandError(f'Several {noun}s have an ID that begins with {text}: {ids}')
    if not matching:
        raise exceptions.CommandError(f'There is no {noun} {text!r}')
    return matching[0]


def whole(candidates: Iterable[Any], text: str, noun: str) -> str:
    """Return the whole id of an object; the text itself if it is as long as an id."""
    return text if len(text) >= 36 else str(found(candidates, text, noun).id)
