# SPDX-License-Identifier: Apache-2.0

"""The table of routes, and how a path finds its route."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final
from typing import Generic
from typing import TypeVar

from climate.api import path_ids
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import MIN

OPEN: Final = ('/', '/versions', '/v1', '/v1/openapi.json', '/healthcheck')
"""Paths that middleware answers without a token."""

PREFIX: Final = '/v1'

V = TypeVar('V')


@dataclasses.dataclass(frozen=True, slots=True)
class Route:
    """A method and a path, the handler that serves them, and when it is called.

    :ivar method: GET includes HEAD
    :ivar path: below ``/v1``, with the names of ids in braces
    :ivar handler: called with the request, the response, and the ids in the path
    :ivar rule: name of the policy rule that the caller must pass
    :ivar parameters: names of the allowed query parameters; None if the handler checks
        them
    :ivar noun: name of the objects in the plural, as in the API reference
    :ivar since: first microversion
    :ivar conditional: whether the handler checks If-Match and If-None-Match of a request that
        changes something
    :ivar large: whether the response is worth compressing, and mixes no secret with text of
        the request, whose length would help to guess the secret
    :ivar secret: whether a successful response has a secret that is shown only once, so that it
        must not be stored: a repetition with the same idempotency key gets a new secret
    :ivar evaluates: whether a request asks for an outcome and changes nothing, unless the
        handler sets :data:`climate.api.http.environ_keys.EVALUATES`
    """

    method: str
    path: str
    handler: Callable[..., Any]
    rule: str
    parameters: Collection[str] | None = ()
    _: dataclasses.KW_ONLY
    noun: str
    since: Microversion = MIN
    conditional: bool = False
    large: bool = False
    secret: bool = False
    evaluates: bool = False

    @property
    def is_of_object(self) -> bool:
        """Whether the path names an object."""
        return '{' in self.path

    @property
    def verb(self) -> str:
        """The last segment if it names an action on an object, such as ``/reallocate``; or ''."""
        last = self.path.rpartition('/')[2]
        return f'/{last}' if self.is_of_object and not last.startswith('{') else ''


class PathTree(Generic[V]):
    """Values of paths with ids, found segment by segment; a word precedes an id."""

    def __init__(self) -> None:
        self._words: dict[str, PathTree[V]] = {}
        self._id: PathTree[V] | None = None
        self._id_name = ''
        self._value: V | None = None

    def setdefault(self, path: str, value: V) -> V:
        """Return the value of a path, which is *value* if it has none yet."""
        node = self
        for segment in path.split('/')[1:]:
            node = node._below(segment)
        if node._value is None:
            node._value = value
        return node._value

    def _below(self, segment: str) -> PathTree[V]:
        if not segment.startswith('{'):
            return self._words.setdefault(segment, PathTree())
        self._id_name = segment[1:-1]
        self._id = self._id or PathTree()
        return self._id

    def find(self, path: str) -> tuple[V | None, dict[str, str]]:
        """Return the value of a path, and the ids in it by name; None if it has none."""
        node, ids = self, dict[str, str]()
        first, *segments = path.rstrip('/').split('/')
        if first:
            return None, ids
        for number, segment in enumerate(segments):
            word = node._words.get(segment)
            if word is not None:
                node = word
            elif node._id is None:
                return None, ids
            elif node._id_name in path_ids.WITH_SLASHES:
                ids[node._id_name] = '/'.join(segments[number:])
                return node._id._value, ids
            elif not segment:
                return None, ids
            else:
                ids[node._id_name] = segment
                node = node._id
        return node._value, ids


class RouteTable:
    """All routes of a service, found by method and path."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes = tuple(routes)
        self._tree: PathTree[dict[str, Route]] = PathTree()
        for route in self._routes:
            for prefix in (PREFIX, ''):
                methods = self._tree.setdefault(prefix + route.path, {})
                methods[route.method] = route

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes)

    def find(self, path: str) -> tuple[Mapping[str, Route], Mapping[str, str]]:
        """Return the routes of a path by method, if there are any, and the ids in it by name."""
        methods, ids = self._tree.find(path)
        return methods or {}, ids
