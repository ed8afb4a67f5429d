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

"""The base of the controllers: services, guards of handlers, and ids in paths."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from typing import Any
from typing import ClassVar
from typing import Final
from typing import TypeVar

from climate import exceptions
from climate.api import bodies
from climate.api import errors
from climate.api.microversions import Microversion
from climate.api.microversions import MIN
from climate.api.services import ApiSettings
from climate.api.services import Services

EVALUATES: Final = 'climate.evaluates'
"""Key of the WSGI environment: whether a request asks for an outcome and changes nothing."""
ID_PREFIX: Final = '='
"""Prefix that marks an id in a path, see :class:`climate.api.routing.Router`."""

_UUID = re.compile(r'[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}')
_RESOURCE_ID = re.compile(r'[0-9]{1,10}', re.ASCII)
_LARGEST_RESOURCE_ID = 2**31 - 1

Handler = Callable[..., Any]
F = TypeVar('F', bound=Handler)


class Controller:
    """Base of the controllers; each attribute that is a controller adds routes below.

    :cvar noun: name of its objects in the plural, as in the API reference
    :cvar item_id: name of the id of one object in a path; '' if the parameter of
        ``_lookup`` has this name
    :cvar since: first microversion of its routes
    :cvar evaluates: whether its requests ask for an outcome and change nothing, unless the
        handler sets :data:`EVALUATES`
    """

    noun: ClassVar[str] = ''
    item_id: ClassVar[str] = ''
    since: ClassVar[Microversion] = MIN
    evaluates: ClassVar[bool] = False

    def __init__(self, services: Services, settings: ApiSettings) -> None:
        self._services = services
        self._settings = settings


class Item(Controller):
    """Base of the controllers of one object, which ``_lookup`` returns."""

    def __init__(self, services: Services, settings: ApiSettings, key: str) -> None:
        super().__init__(services, settings)
        self._key = key


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """Conditions under which a handler is called.

    :ivar rule: name of the policy rule that the caller must pass
    :ivar parameters: names of the allowed query parameters; None if the handler checks
        them
    :ivar method: HTTP method of a handler without ``when(method=...)``; GET includes HEAD
    :ivar since: first microversion; None for that of the controller
    :ivar conditional: whether the handler checks If-Match and If-None-Match of a request that
        changes something
    :ivar large: whether the response is worth compressing, and mixes no secret with text of
        the request, whose length would tell about the secret
    :ivar secret: whether a successful response has a secret that is shown only once, so that it
        must not be stored: a repetition with the same idempotency key gets a new secret
    """

    rule: str
    parameters: Collection[str] | None
    method: str
    since: Microversion | None
    conditional: bool
    large: bool = False
    secret: bool = False


def guard(
    rule: str,
    parameters: Collection[str] | None = (),
    *,
    method: str = 'GET',
    since: Microversion | None = None,
    conditional: bool = False,
    large: bool = False,
    secret: bool = False,
) -> Callable[[F], F]:
    """Declare the :class:`Guard` of a handler; :class:`climate.api.routing.Guards` applies it."""

    def declare(handler: F) -> F:
        handler.__dict__['guard'] = Guard(
            rule=rule,
            parameters=parameters,
            method=method,
            since=since,
            conditional=conditional,
            large=large,
            secret=secret,
        )
        return handler

    return declare


def key(segment: str) -> str:
    """Return the id in a segment of a path.

    :raises climate.api.errors.RouteNotFound: if it is empty
    """
    text = segment.removeprefix(ID_PREFIX)
    if not text:
        raise errors.RouteNotFound
    return text


def joined_key(segments: Iterable[str]) -> str:
    """Return *segments* joined into one id: names of properties may contain slashes."""
    return '/'.join(segment.removeprefix(ID_PREFIX) for segment in segments)


def uuid(word: str, text: str) -> str:
    """Return the id of a lease or a maintenance as it is stored.

    :param word: name of the id in the error message, such as ``lease_id``
    :raises climate.exceptions.NotFound: if it is not a UUID
    """
    if _UUID.fullmatch(text) is None:
        raise exceptions.NotFound(object={word: bodies.printable(text)})
    return text.lower()


def resource_id(word: str, text: str) -> int:
    """Return the id of a resource as it is stored.

    :param word: name of the id in the error message, such as ``host_id``
    :raises climate.exceptions.NotFound: if it is not the number of a resource
    """
    if _RESOURCE_ID.fullmatch(text) is None or int(text) > _LARGEST_RESOURCE_ID:
        raise exceptions.NotFound(object={word: bodies.printable(text)})
    return int(text)
