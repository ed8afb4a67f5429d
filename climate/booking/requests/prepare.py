# SPDX-License-Identifier: Apache-2.0

"""Cloud calls that a booking needs first, made between two transactions.

Some requests are inspected in the cloud as the caller sees it, and some things only
the caller can make for the project. The first transaction finds that the lease can
be booked and what is missing; a later one books it. What is to be made is recorded
before the call, so that repair finds what was made for a lease that was not booked.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.booking.requests.context import Context
from climate.cloud.base import Cloud
from climate.db.leases.intents import Intent
from climate.db.transactions.store import Store
from climate.domain.leases import Lease
from climate.domain.requests import Caller
from climate.leases import on_behalf

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Inspection:
    """A changed request that has to be inspected in the cloud first."""

    plugin: Any
    reservation_id: str
    request: Any
    project_id: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Creation:
    """Something that the caller has to make in the cloud first.

    :ivar what: the plugin's word for it
    :ivar booked: whether the reservation exists already; repair finds what is
        left of a change with the reservation
    """

    plugin: Any
    request: Any
    reservation_id: str
    project_id: str
    what: str
    booked: bool = False

    @property
    def intent(self) -> Intent:
        """The record to write before the call."""
        return Intent(
            reservation_id=self.reservation_id,
            resource_type=self.plugin.resource_type,
            project_id=self.project_id,
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Missing:
    """Cloud calls that a booking needs before it can be written."""

    inspections: tuple[Inspection, ...] = ()
    creations: tuple[Creation, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """Results of the cloud calls so far.

    :ivar inspected: the request before and after its inspection, by reservation id
    :ivar created: facts by reservation id and the plugin's word
    """

    inspected: Mapping[str, tuple[Any, Any]] = dataclasses.field(default_factory=dict)
    created: Mapping[tuple[str, str], Mapping[str, Any]] = dataclasses.field(default_factory=dict)

    def facts(self, reservation_id: str, what: str | None) -> Mapping[str, Any] | None:
        """Return the facts about what was made; None if it was not."""
        return {} if what is None else self.created.get((reservation_id, what))


NOTHING = Findings()


def booked(
    context: Context,
    caller: Caller,
    book: Callable[[Findings], Lease | Missing],
    outcome: Lease | Missing,
    findings: Findings = NOTHING,
) -> Lease:
    """Make the cloud calls that a booking needs first, then book the lease.

    Everything made is removed again if the booking fails.

    :param book: books the lease, or returns the cloud calls that it needs first
    :param outcome: what it returned for *findings*
    :raises climate.exceptions.ClimateError: if the lease cannot be booked
    """
    if isinstance(outcome, Lease):
        return outcome
    cloud = functools.partial(context.cloud, caller)
    if outcome.inspections:
        inspected = {one.reservation_id: inspect(one, cloud) for one in outcome.inspections}
        found = dataclasses.replace(findings, inspected={**findings.inspected, **inspected})
        return booked(context, caller, book, book(found), found)
    with made(context.store, outcome.creations, cloud) as facts:
        created = {
            (one.reservation_id, one.what): facts[one.reservation_id] for one in outcome.creations
        }
        found = dataclasses.replace(findings, created={**findings.created, **created})
        return booked(context, caller, book, book(found), found)


def inspect(one: Inspection, cloud: Callable[[], Cloud]) -> tuple[Any, Any]:
    """Return a request before and after its inspection in the cloud.

    :param cloud: returns the cloud as the caller sees it
    :raises climate.exceptions.ClimateError: if something named does not exist
    """
    look = functools.partial(one.plugin.inspect, one.request, cloud, one.project_id)
    return one.request, on_behalf.answered(look)


@contextlib.contextmanager
def made(
    store: Store, creations: Collection[Creation], cloud: Callable[[], Cloud]
) -> Iterator[dict[str, Mapping[str, Any]]]:
    """Make things in the cloud, and remove them if the booking fails.

    They stay if the database did not respond, because the lease may be booked:
    repair finds out later. It also finds what a call made whose response was lost.

    :param cloud: returns the cloud as the caller sees it
    :returns: facts by reservation id
    :raises climate.exceptions.CloudUnavailable: if the cloud does not respond
    :raises climate.exceptions.Conflict: if it refuses
    :raises climate.exceptions.DatabaseUnavailable: if they cannot be recorded
    """
    intents = [one.intent for one in creations if not one.booked]
    if intents:
        store.run(lambda tx: tx.intents.add(intents))
    facts: dict[str, Mapping[str, Any]] = {}
    unsure: set[str] = set()
    try:
        for one in creations:
            unsure.add(one.reservation_id)
            facts[one.reservation_id] = _make(one, cloud, unsure)
        yield facts
    except exceptions.DatabaseUnavailable:
        raise
    except exceptions.ClimateError:
        for one in creations:
            if one.reservation_id in facts and _unmade(one, facts[one.reservation_id], cloud):
                unsure.discard(one.reservation_id)
        _forget(store, {one.reservation_id for one in intents} - unsure)
        raise


def _make(one: Creation, cloud: Callable[[], Cloud], unsure: set[str]) -> Mapping[str, Any]:
    def make() -> Mapping[str, Any]:
        found: Mapping[str, Any] = one.plugin.make(one.reservation_id, one.request, cloud())
        return found

    try:
        return on_behalf.answered(make)
    except exceptions.Conflict:
        # The cloud has refused it, so nothing was made.
        unsure.discard(one.reservation_id)
        raise


def _unmade(one: Creation, facts: Mapping[str, Any], cloud: Callable[[], Cloud]) -> bool:
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
            LOG.warning('Records of a request that was not booked could not be deleted: %s', error)
