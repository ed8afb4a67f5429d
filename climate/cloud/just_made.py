# SPDX-License-Identifier: Apache-2.0

"""A cloud that marks errors about objects that a reservation has just made.

Services are eventually consistent: for some seconds, a replica, another cell or a cache
does not know what was made. So an error "not found" about such an object, or "exists"
about one that cannot be found, is no reason to give up, see
:func:`climate.cloud.just_made.temporary`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from collections.abc import Iterable
from typing import Any

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.wrapped import WrappedCloud

_CREATE = 'create_'
_LONGEST_CHAIN = 10
_SHORTEST_ID = 32


class JustMade(WrappedCloud):
    """A cloud that marks errors.

    :param known: texts by which objects of the reservation are known: their ids, and the
        id of the reservation, which is in their names
    """

    def __init__(self, cloud: Cloud, known: Iterable[str]) -> None:
        super().__init__(cloud)
        self._known = {text for text in known if text}

    def _method(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        creates = name.partition('.')[2].startswith(_CREATE)
        return functools.partial(self._call, creates, real)

    def _call(self, creates: bool, verb: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        try:
            result = verb(*arguments, **named)
        except exceptions.EffectError as error:
            if isinstance(error, (CloudConflict, CloudNotFound) if creates else CloudNotFound):
                error.awaited = self._mentions((*arguments, *named.values()))
            raise
        if creates:
            self._known |= _ids(result)
        return result

    def _mentions(self, given: Iterable[Any]) -> bool:
        texts = [text for item in given for text in (*_ids(item), str(getattr(item, 'name', '')))]
        return any(_is_in(known, text) for known in self._known for text in texts)


def _is_in(known: str, text: str) -> bool:
    # Names contain the id of a reservation; a number may be part of any text.
    return known == text or (len(known) >= _SHORTEST_ID and known in text)


def _ids(item: Any) -> set[str]:
    if isinstance(item, (str, int)) and not isinstance(item, bool):
        return {str(item)} - {''}
    ids = (getattr(item, name, None) for name in ('id', 'uuid', 'flavor_id'))
    return {str(one) for one in ids if one}


def temporary(error: exceptions.EffectError) -> exceptions.EffectError:
    """Return an error as temporary if it is about an object that was just made."""
    cause: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if getattr(cause, 'awaited', False) and isinstance(error, exceptions.Permanent):
            text = f'{error.message} (it was made a moment ago, and may not be visible yet)'
            return exceptions.Transient(text)
        cause = None if cause is None else cause.__cause__
    return error
