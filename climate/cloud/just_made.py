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

_CREATE = 'create_'
_LONGEST_CHAIN = 10
_SHORTEST_ID = 32


class JustMade:
    """Implements :class:`climate.cloud.base.Cloud`, and marks errors.

    :param known: texts by which objects of the reservation are known: their ids, and the
        id of the reservation, which is in their names
    """

    def __init__(self, cloud: Cloud, known: Iterable[str]) -> None:
        self._cloud = cloud
        self._known = known if isinstance(known, set) else {text for text in known if text}

    def acting_for(self, trust_id: str) -> JustMade:
        """Return the cloud as another user sees it."""
        return JustMade(self._cloud.acting_for(trust_id), self._known)

    def of_caller(self, token: str) -> JustMade:
        """Return the cloud as a caller sees it."""
        return JustMade(self._cloud.of_caller(token), self._known)

    def as_service(self) -> JustMade:
        """Return the cloud as the service user sees it."""
        return JustMade(self._cloud.as_service(), self._known)

    @property
    def compute(self) -> Any:
        """Nova."""
        return _MarkedService(self._cloud.compute, self._known)

    @property
    def placement(self) -> Any:
        """Placement."""
        return _MarkedService(self._cloud.placement, self._known)

    @property
    def network(self) -> Any:
        """Neutron."""
        return _MarkedService(self._cloud.network, self._known)

    @property
    def volume(self) -> Any:
        """Cinder."""
        return _MarkedService(self._cloud.volume, self._known)

    @property
    def image(self) -> Any:
        """Glance."""
        return _MarkedService(self._cloud.image, self._known)

    @property
    def orchestration(self) -> Any:
        """Heat."""
        return _MarkedService(self._cloud.orchestration, self._known)

    @property
    def identity(self) -> Any:
        """Keystone."""
        return _MarkedService(self._cloud.identity, self._known)


class _MarkedService:
    def __init__(self, real: Any, known: set[str]) -> None:
        self._real = real
        self._known = known

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        return functools.partial(self._call, verb, getattr(self._real, verb))

    def _call(self, verb: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        given = (*arguments, *named.values())
        try:
            result = call(*arguments, **named)
        except exceptions.EffectError as error:
            creates = verb.startswith(_CREATE) and isinstance(error, CloudConflict)
            if creates or isinstance(error, CloudNotFound):
                error.awaited = self._mentions(given)
            raise
        if verb.startswith(_CREATE):
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
