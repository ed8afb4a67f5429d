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

"""Lists all routes, as the controllers define them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any
from typing import Final

from climate.api.controllers.base import Controller
from climate.api.controllers.base import Guard
from climate.api.controllers.base import Handler
from climate.api.microversions import Microversion
from climate.api.routing import handlers
from climate.api.routing import is_generic_handler

OPEN: Final = ('/', '/versions', '/v1', '/v1/openapi.json', '/healthcheck')
"""Paths that middleware answers without a token."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """A method and a path, and the handler that serves them."""

    method: str
    path: str
    noun: str
    handler: Handler
    guard: Guard
    since: Microversion


def walk(controller: Controller, path: str = '') -> Iterator[Route]:
    """Yield the routes of *controller*, which is at *path*, and of those below it."""
    for name, action in inspect.getmembers(controller, _is_action):
        for method, handler in handlers(action).items():
            guard: Guard = handler.__dict__['guard']
            yield Route(
                method=method,
                path=path if name == 'index' else f'{path}/{name}',
                noun=controller.noun,
                handler=handler,
                guard=guard,
                since=guard.since or controller.since,
            )
    for name, child in vars(controller).items():
        if isinstance(child, Controller):
            yield from walk(child, f'{path}/{name}')
    lookup = inspect.getattr_static(controller, '_lookup', None)
    if lookup is not None:
        # The name of its first parameter, after self, is the name of the id.
        name = controller.item_id or list(inspect.signature(lookup).parameters)[1]
        parameter = f'{{{name}}}'
        item, _ = lookup(controller, parameter)
        yield from walk(item, f'{path}/{parameter}')


def _is_action(member: Any) -> bool:
    return (
        inspect.ismethod(member)
        and bool(member.__dict__.get('exposed'))
        and member.__name__ != '_lookup'
        and not is_generic_handler(member)
    )


def words(root: Controller) -> set[str]:
    """Return the segments of the paths of all routes, except those for ids."""
    paths = '/'.join(route.path for route in walk(root))
    return {word for word in paths.split('/') if word and not word.startswith('{')}
