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

import contextlib
import dataclasses
import logging
from collections import Counter
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

from climate import exceptions
from climate.clients.base import Cloud
from climate.db.store import Store
from climate.db.store import Transaction
from climate.leasing import booking
from climate.leasing.notices import Plugins

LOG = logging.getLogger(__name__)

# Those asked for and their parts: a stack has one for each size of its volumes.
_MOST = 200


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
        if len(found) > _MOST:
            raise exceptions.InvalidInput(
                f'With all parts, a lease has at most {_MOST} reservations'
            )
    return found


def _looked(one: Asked, cloud: Callable[[], Cloud], project_id: str) -> Asked:
    if not one.plugin.inspects:
        return one
    return dataclasses.replace(one, request=one.plugin.inspect(one.request, cloud, project_id))


def things(asked: Iterable[Asked]) -> tuple[tuple[str, str], ...]:
    """Return the things that are asked for, by type and name, in order.

    :raises climate.exceptions.InvalidInput: if one is asked for twice
    """
    found = Counter(
        (one.plugin.resource_type, name) for one in asked for name in one.plugin.things(one.request)
    )
    for (resource_type, name), times in found.items():
        if times > 1:
            raise exceptions.InvalidInput(f'{resource_type} {name} is asked for twice')
    return tuple(sorted(found))


def take_in(tx: Transaction, wanted: Iterable[tuple[str, str]], project_id: str) -> None:
    """Have a resource for each thing that is asked for, to be booked like any other."""
    for resource_type, name in wanted:
        tx.things.ensure(resource_type, name, project_id)


@contextlib.contextmanager
def kept(store: Store, wanted: Collection[tuple[str, str]]) -> Iterator[None]:
    """Let no resource of a thing stay behind if nothing comes of a booking.

    Where a filter waits, the transaction that chose has written it.
    """
    try:
        yield
    except BaseException:
        if wanted:
            try:
                store.run(lambda tx: tx.things.forget(wanted))
            except Exception:
                # What went wrong first is what is to be told.
                LOG.exception('What nobody has booked stays until the next purge')
        raise
