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

"""Has callers make in the cloud what only they can make for their project.

It is made between two transactions: the first one has found that the lease can
be had, the second one books it. It is written down before the call, so that
repair finds what was made for a lease that was not booked.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Cloud
from climate.db.intents import Intent
from climate.db.store import Store
from climate.leasing import asking

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Making:
    """Something that is to be made.

    :ivar what: the plugin's word for it
    :ivar booked: whether the reservation is there already; what is left of a
        change is found with the reservation
    """

    plugin: Any
    request: Any
    reservation_id: str
    project_id: str
    what: str
    booked: bool = False

    @property
    def intent(self) -> Intent:
        """What is written down of it."""
        return Intent(
            reservation_id=self.reservation_id,
            resource_type=self.plugin.resource_type,
            project_id=self.project_id,
        )


class NeedsMaking(Exception):
    """Something has to be made first, outside of the transaction.

    :ivar makings: all of it
    """

    def __init__(self, makings: Collection[Making]) -> None:
        super().__init__(', '.join(one.what for one in makings))
        self.makings = tuple(makings)


class Made:
    """What was made for the reservations of one lease."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str], Mapping[str, Any]] = {}

    def add(self, makings: Collection[Making], facts: Mapping[str, Mapping[str, Any]]) -> None:
        """Remember what was made, by reservation id."""
        for one in makings:
            self._facts[one.reservation_id, one.what] = facts[one.reservation_id]

    def facts(self, reservation_id: str, what: str | None) -> Mapping[str, Any] | None:
        """Return the facts about what was made; None if it was not."""
        return {} if what is None else self._facts.get((reservation_id, what))

    @property
    def reservation_ids(self) -> tuple[str, ...]:
        """The reservations that something was made for."""
        return tuple(reservation_id for reservation_id, _ in self._facts)


@contextlib.contextmanager
def made(
    store: Store, makings: Collection[Making], cloud: Callable[[], Cloud]
) -> Iterator[dict[str, Mapping[str, Any]]]:
    """Have things made; they go again if what they are for is not booked.

    If nobody can say whether it is, for the answer of the database was lost,
    they stay: repair knows later. So it does of what was made by a call whose
    answer was lost.

    :param cloud: returns the cloud as the caller sees it
    :returns: facts by reservation id
    :raises climate.exceptions.CloudUnavailable: if the cloud does not answer
    :raises climate.exceptions.Conflict: if it refuses
    :raises climate.exceptions.DatabaseUnavailable: if it cannot be written down
    """
    intents = [one.intent for one in makings if not one.booked]
    if intents:
        store.run(lambda tx: tx.intents.add(intents))
    facts: dict[str, Mapping[str, Any]] = {}
    unsure: set[str] = set()
    try:
        for one in makings:
            unsure.add(one.reservation_id)
            facts[one.reservation_id] = _make(one, cloud, unsure)
        yield facts
    except exceptions.DatabaseUnavailable:
        raise
    except exceptions.ClimateError:
        for one in makings:
            if one.reservation_id in facts and _unmade(one, facts[one.reservation_id], cloud):
                unsure.discard(one.reservation_id)
        _forget(store, {one.reservation_id for one in intents} - unsure)
        raise


def _make(one: Making, cloud: Callable[[], Cloud], unsure: set[str]) -> Mapping[str, Any]:
    def make() -> Mapping[str, Any]:
        found: Mapping[str, Any] = one.plugin.make(one.reservation_id, one.request, cloud())
        return found

    try:
        return asking.answered(make)
    except exceptions.Conflict:
        # It was refused, so there is nothing.
        unsure.discard(one.reservation_id)
        raise


def _unmade(one: Making, facts: Mapping[str, Any], cloud: Callable[[], Cloud]) -> bool:
    try:
        one.plugin.unmake(one.reservation_id, one.project_id, facts, cloud())
    except exceptions.ClimateError as error:
        LOG.warning('%s of reservation %s stays for now: %s', one.what, one.reservation_id, error)
        return False
    return True


def _forget(store: Store, reservation_ids: Collection[str]) -> None:
    if reservation_ids:
        try:
            store.run(lambda tx: tx.intents.forget(reservation_ids))
        except exceptions.ClimateError as error:
            LOG.warning('What was not booked could not be forgotten: %s', error)
