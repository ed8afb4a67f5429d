# SPDX-License-Identifier: Apache-2.0

"""The base of the controllers: their services, and their routes."""

from __future__ import annotations

import abc
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

from climate.api.http import queries
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import MIN
from climate.api.routing.routes import Route
from climate.api.routing.routing import Request
from climate.api.routing.services import ApiSettings
from climate.api.routing.services import Services
from climate.plugins.collection import ResourceCollection


class Controller(abc.ABC):
    """Base of the controllers: the handlers of the objects of one noun.

    :ivar noun: name of its objects in the plural, as in the API reference
    :cvar since: first microversion of its routes
    """

    noun: str
    since: ClassVar[Microversion] = MIN

    def __init__(self, services: Services, settings: ApiSettings) -> None:
        self._services = services
        self._settings = settings

    @abc.abstractmethod
    def routes(self) -> Iterable[Route]:
        """Return the routes to its handlers."""

    def _route(
        self,
        method: str,
        path: str,
        handler: Callable[..., Any],
        rule: str,
        parameters: Collection[str] | None = (),
        *,
        since: Microversion | None = None,
        **options: bool,
    ) -> Route:
        """Return a :class:`climate.api.routing.routes.Route` to a handler."""
        since = since or self.since
        return Route(
            method, path, handler, rule, parameters, noun=self.noun, since=since, **options
        )

    def _page(
        self,
        req: Request,
        key: str,
        read: Callable[[str | None, int], Sequence[Any]],
        show: Callable[[Any, Microversion], dict[str, Any]],
    ) -> dict[str, Any]:
        """Return a page of a list, with the link to the next one if there is any.

        :param read: returns the objects after a marker, at most so many
        """
        scope = req.scope
        marker, limit = queries.paging(scope.parameters, self._settings.max_limit)
        found = read(marker, limit + 1)
        page: dict[str, Any] = {key: [show(one, scope.version) for one in found[:limit]]}
        if len(found) > limit:
            href = queries.next_page(req.path_url, scope.parameters, found[limit - 1].id)
            page[f'{key}_links'] = [{'rel': 'next', 'href': href}]
        return page


class CollectionPart(Controller):
    """Base of the controllers of one collection that a resource type declares."""

    def __init__(
        self, services: Services, settings: ApiSettings, collection: ResourceCollection
    ) -> None:
        super().__init__(services, settings)
        self._collection = collection
