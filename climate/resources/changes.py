# SPDX-License-Identifier: Apache-2.0

"""Compares registered resources with the cloud, and records how they differ.

A resource that leases cannot use counts as failed: nothing is booked on it, and its
reservations move off it. Where the cloud has less than is registered, the inventories
fall at once, so that nothing is booked that the cloud does not have; if more is booked
already, nothing new is booked until the excess has moved. What the cloud has in
addition is used only after a refresh, since an operator may not want to lease it.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator
from typing import Any

from climate import exceptions
from climate.cloud.base import Cloud
from climate.db.booking.writer import BookingWriter
from climate.db.resources.shortages import Shortages
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.resources import Inventory
from climate.domain.resources import Resource
from climate.leases.notices import Plugins
from climate.messaging import payloads
from climate.messaging import schemas
from climate.plugins.contract import Plugin
from climate.plugins.contract import Reported
from climate.plugins.contract import SweepFinding
from climate.resources import catalog

LOG = logging.getLogger(__name__)


def compare(
    store: Store, plugins: Plugins, cloud: Cloud, *, dry_run: bool
) -> Iterator[SweepFinding]:
    """Yield each change since the last comparison, after recording it.

    :param dry_run: report what would be recorded, without recording it
    """
    for resource_type, plugin in catalog.fixed(plugins).items():
        if plugin.resource_schema is None:
            continue
        with store.reading() as tx:
            known = [one for one in tx.resources.of_type(resource_type) if one.reservable]
        try:
            for reported in plugin.report(known, cloud) if known else ():
                yield from _compared(store, plugin, reported, dry_run)
        except exceptions.EffectError as error:
            # The sweep that follows finds that, too.
            LOG.info('%s cannot be compared with the cloud: %s', resource_type, error.message)


def _compared(
    store: Store, plugin: Plugin[Any], reported: Reported, dry_run: bool
) -> list[SweepFinding]:
    if dry_run:
        with store.reading() as tx:
            reported = _checked(tx, reported)
        state = _state(plugin, reported.known, reported)
        return _findings(reported.known, state, '')

    def work(tx: Transaction) -> list[SweepFinding]:
        return settle(tx, plugin, reported)

    return store.run(work)


def settle(tx: Transaction, plugin: Plugin[Any], reported: Reported) -> list[SweepFinding]:
    """Record how the cloud has changed a resource; return what is new, a line each.

    :param reported: of a moment ago
    """
    reported = _checked(tx, reported)
    if not _differs(plugin, reported.known, reported):
        return []
    number = reported.known.id
    assert number is not None
    writer = tx.book([number])
    known = tx.resources.get(reported.known.resource_type, number)
    lowered = _lowered(known, reported)
    findings: list[SweepFinding] = []
    short: dict[str, float] = {}
    excess = ''
    if lowered is not None:
        left, complaints = _restocked(writer, known, lowered)
        excess = '; '.join(complaints.values())
        if reported.works and not reported.trouble:
            has = _capacities(lowered)
            short = {name: has.get(name, 0.0) for name in complaints}
        reduced = _shrunk(known, left)
        if reduced:
            what = f'{known.resource_type} {known.name}: {reduced}'
            findings.append(SweepFinding(what=what, done='capacity lowered'))
            known = tx.resources.get(known.resource_type, number)
            _notify(tx, schemas.RESOURCE_REDUCED, known, reduced)
    Shortages(tx.session, tx.now).record(number, short)
    state = _state(plugin, known, reported, excess)
    findings += _findings(known, state, 'recorded')
    if state != _State(reason=known.degraded, unusable=known.unusable):
        tx.failures.set_degraded(
            number, state.reason, unusable=state.unusable, works=reported.works
        )
        now = dataclasses.replace(known, degraded=state.reason, unusable=state.unusable)
        if state.reason:
            _notify(tx, schemas.RESOURCE_DEGRADED, now, state.reason)
        else:
            _notify(tx, schemas.RESOURCE_RECOVERED, now, known.degraded)
    return findings


def _checked(tx: Transaction, reported: Reported) -> Reported:
    """Return a report that counts as trouble what others have made of a resource."""
    if not reported.taken or tx.allocations.is_held(reported.known.id or 0):
        return reported
    return dataclasses.replace(reported, trouble=reported.trouble or reported.taken)


def _restocked(
    writer: BookingWriter, known: Resource, lowered: tuple[Inventory, ...]
) -> tuple[tuple[Inventory, ...], dict[str, str]]:
    """Lower the inventories of a resource as far as what is booked allows.

    :returns: the inventories now, and a text for each class of which more is booked
    """
    assert known.id is not None
    had = {item.resource_class: item for item in known.inventories}
    left = {item.resource_class: item for item in lowered}
    has = _capacities(lowered)
    complaints: dict[str, str] = {}
    while True:
        try:
            writer.restock(known.id, left.values())
        except exceptions.InventoryInUse as error:
            name = str(error.facts['resource_class'])
            left[name] = had[name]
            complaints[name] = (
                f'{error.facts["booked"]} units of {name} are booked at one time, '
                f'of {has.get(name, 0.0):g}'
            )
        else:
            return tuple(left.values()), complaints


def _notify(tx: Transaction, event_type: str, resource: Resource, reason: str) -> None:
    payload = payloads.resource(event_type, resource, reason=reason, now=tx.now)
    tx.outbox.post(event_type, f'resource {resource.id}', payload)


def note(tx: Transaction, resource_id: int, reason: str) -> bool:
    """Record that an effect could not use a resource; return whether that is new.

    :param reason: how the cloud has changed it, as a comparison would find it
    """
    (known,) = tx.resources.with_ids({resource_id})
    if known.unusable and reason in known.degraded:
        return False
    Shortages(tx.session, tx.now).clear([resource_id])
    tx.failures.set_degraded(resource_id, reason, unusable=True, works=True)
    now = dataclasses.replace(known, degraded=reason, unusable=True)
    _notify(tx, schemas.RESOURCE_DEGRADED, now, reason)
    LOG.warning('%s %s cannot be used: %s', known.resource_type, known.name, reason)
    return True


def take_over(tx: Transaction, plugin: Plugin[Any], reported: Reported) -> list[SweepFinding]:
    """Replace what is registered by what the cloud reports.

    Capacity that is booked stays booked: the resource then counts as failed until its
    reservations have moved.
    """
    number, now = reported.known.id, reported.now
    assert number is not None and now is not None
    writer = tx.book([number])
    tx.resources.set_reported(number, now)
    known = tx.resources.get(reported.known.resource_type, number)
    if now.inventories:
        # What the cloud has more of is never in use; settle() lowers the rest.
        writer.restock(number, _grown(known, now))
        known = tx.resources.get(reported.known.resource_type, number)
    return settle(tx, plugin, dataclasses.replace(reported, known=known))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _State:
    reason: str
    unusable: bool


def _state(plugin: Plugin[Any], known: Resource, reported: Reported, excess: str = '') -> _State:
    serious = [line for line in (reported.trouble, excess) if line]
    lines = [*serious, *_differences(plugin, known, reported.now)]
    return _State(
        reason='; '.join(lines), unusable=bool(serious) or _is_another(plugin, known, reported.now)
    )


def _is_another(plugin: Plugin[Any], known: Resource, now: Resource | None) -> bool:
    """Whether the name is that of another thing by now, which Climate does not manage."""
    name = plugin.identity
    return (
        now is not None
        and name is not None
        and name in known.attributes
        and now.attributes.get(name) != known.attributes[name]
    )


def _differs(plugin: Plugin[Any], known: Resource, reported: Reported) -> bool:
    if _lowered(known, reported) is not None:
        return True
    return _state(plugin, known, reported) != _State(reason=known.degraded, unusable=known.unusable)


def _findings(known: Resource, state: _State, done: str) -> list[SweepFinding]:
    if state == _State(reason=known.degraded, unusable=known.unusable):
        return []
    name = f'{known.resource_type} {known.name}'
    if not state.reason:
        return [SweepFinding(what=f'{name} is again as it is registered', done=done)]
    word = 'cannot be used' if state.unusable else 'has changed since it was registered'
    return [SweepFinding(what=f'{name} {word}: {state.reason}', done=done)]


def _differences(plugin: Plugin[Any], known: Resource, now: Resource | None) -> Iterator[str]:
    if now is None:
        return
    for name in plugin.compared:
        # A host of an earlier release may lack an attribute.
        if name in known.attributes and now.attributes.get(name) != known.attributes[name]:
            value = _written(now.attributes.get(name))
            yield f'{name} is {value}, not {_written(known.attributes[name])}'
    had, has = _amounts(known.inventories), _amounts(now.inventories)
    if has or not had:
        for name in sorted(had.keys() | has.keys()):
            if had.get(name, 0) != has.get(name, 0):
                yield f'its capacity of {name} is {has.get(name, 0)}, not {had.get(name, 0)}'
        gone, new = sorted(known.traits - now.traits), sorted(now.traits - known.traits)
        if gone:
            yield f'it no longer has {", ".join(gone)}'
        if new:
            yield f'it also has {", ".join(new)}'
    else:
        yield 'Placement has no inventory of it'


def _written(value: object) -> str:
    return str(value) if value not in ('', None) else 'empty'


def _capacities(inventories: tuple[Inventory, ...]) -> dict[str, float]:
    return {item.resource_class: float(item.capacity) for item in inventories}


def _amounts(inventories: tuple[Inventory, ...]) -> dict[str, int]:
    return {item.resource_class: item.capacity for item in inventories}


def _lowered(known: Resource, reported: Reported) -> tuple[Inventory, ...] | None:
    """Return the registered inventories without what the cloud no longer has.

    None if it has everything. A cloud that reports no inventory at all has lost its
    record of the host for the moment, as while it is reinstalled.
    """
    if reported.now is None or not reported.now.inventories:
        return None
    has = {item.resource_class: item for item in reported.now.inventories}
    left = tuple(
        has[item.resource_class] if item.capacity > has[item.resource_class].capacity else item
        for item in known.inventories
        if item.resource_class in has
    )
    return None if left == known.inventories else left


def _grown(known: Resource, now: Resource) -> tuple[Inventory, ...]:
    """Return the inventories of the cloud, and what is registered where that is more."""
    had = {item.resource_class: item for item in known.inventories}
    has = {item.resource_class: item for item in now.inventories}
    both = {**had, **{name: item for name, item in has.items() if _fits(item, had.get(name))}}
    return tuple(both.values())


def _fits(item: Inventory, old: Inventory | None) -> bool:
    return old is None or item.capacity >= old.capacity


def _shrunk(known: Resource, left: tuple[Inventory, ...]) -> str:
    had, has = _amounts(known.inventories), _amounts(left)
    return ', '.join(
        f'its capacity of {name} is {has.get(name, 0)}, not {had[name]}'
        for name in sorted(had)
        if has.get(name, 0) != had[name]
    )
