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

"""What a caller asks for, reservation by reservation, and the parts of each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Iterable
from typing import Any

from climate import exceptions
from climate.clients.base import Cloud
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain.resources import Resource
from climate.leasing import booking
from climate.leasing.notices import Plugins


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """One reservation that is to be.

    :ivar whole: place of the reservation that it is a part of; None if it was
        asked for itself
    """

    plugin: Any
    request: Any
    whole: int | None = None


def seen(
    asked: Iterable[Asked], plugins: Plugins, cloud: Callable[[], Cloud], project_id: str
) -> list[Asked]:
    """Look at what is asked for, and put the parts before what they are parts of.

    :param cloud: returns the cloud as the caller sees it
    :raises climate.exceptions.ClimateError: if something that is named, or
        the type of a part, is not there
    """
    found: list[Asked] = []
    for one in asked:
        whole = _looked(one, cloud, project_id)
        bodies = whole.plugin.parts(whole.request)
        place = len(found) + len(bodies)
        for body in bodies:
            plugin = booking.plugin_of(plugins, body['resource_type'])
            part = Asked(plugin=plugin, request=plugin.parse(body, strict=True), whole=place)
            found.append(_looked(part, cloud, project_id))
        found.append(whole)
    return found


def _looked(one: Asked, cloud: Callable[[], Cloud], project_id: str) -> Asked:
    if not one.plugin.inspects:
        return one
    return dataclasses.replace(one, request=one.plugin.inspect(one.request, cloud, project_id))


def take_in(store: Store, asked: Iterable[Asked]) -> None:
    """Have a resource for each thing that is asked for, to be booked like any other.

    :raises climate.exceptions.InvalidInput: if one is asked for twice
    """
    things = [
        (one.plugin.resource_type, name) for one in asked for name in one.plugin.things(one.request)
    ]
    for resource_type, name in things:
        if things.count((resource_type, name)) > 1:
            raise exceptions.InvalidInput(f'{resource_type} {name} is asked for twice')
    if things:
        store.run(lambda tx: _insert(tx, things))


def _insert(tx: Transaction, things: Iterable[tuple[str, str]]) -> None:
    for resource_type, name in sorted(things):
        tx.resources.ensure(Resource(resource_type=resource_type, name=name))
