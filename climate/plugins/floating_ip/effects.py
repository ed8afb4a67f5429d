# SPDX-License-Identifier: Apache-2.0
"""The floating IPs of one reservation in Neutron."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.cloud.base import as_transient
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import FloatingIP
from climate.cloud.base import Networking
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins import marks
from climate.plugins.floating_ip.facts import FloatingIPFacts
from climate.plugins.floating_ip.names import TAKEN

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _LeasedAddress:
    """An address that the reservation has or loses.

    :ivar found: the floating IP that Neutron has at the address
    :ivar ours: whether that floating IP was created for the reservation
    :ivar had: whether the project has had it before
    :ivar keepable: whether the reservation could keep it to its end
    """

    resource_id: int
    network_id: str
    subnet_id: str
    address: str
    found: FloatingIP | None
    ours: bool
    had: bool
    keepable: bool

    @property
    def attached(self) -> bool:
        """Whether it is in use."""
        return self.ours and self.found is not None and self.found.port_id is not None


class AddressEffects:
    """Creates, repairs and deletes them; every step can be repeated.

    :param required: addresses that the reservation prefers to keep
    """

    def __init__(self, work: contract.Work, neutron: Networking, required: Iterable[str]) -> None:
        self._work = work
        self._neutron = neutron
        self._required = frozenset(required)
        self._facts = FloatingIPFacts.of(work.reservation)
        self._known = self._facts.floating_ips
        self._resources = {resource.id: resource for resource in work.resources}

    def settle(self) -> contract.Done:
        """Create the floating IPs of the reservation, and delete those that it loses.

        :raises climate.exceptions.Permanent: if one that is in use would be deleted
        """
        done, _ = self._settled()
        return done

    def _settled(self) -> tuple[contract.Done, Collection[str]]:
        """Settle, and return the ids of the floating IPs as well."""
        stay, go = self._parted()
        repaired: list[str] = []
        ids = {item.address: self._give(item, repaired) for item in stay}
        undone = [self._look(resource, keepable=False) for resource in self._work.undone]
        for item in (*go, *undone):
            self._remove(item)
        suggested = {item.resource_id for item in self._work.allocations}
        kept = {item.resource_id: 1 for item in stay}
        done = contract.Done(
            facts=self._changes(ids),
            repaired=tuple(repaired),
            kept=None if set(kept) == suggested else kept,
        )
        return done, ids.values()

    def check(self) -> contract.Done:
        """Settle, and delete what a manager that hung created for addresses released since."""
        done, ids = self._settled()
        self._tidy(ids)
        return done

    def remove(self) -> contract.Done:
        """Delete all of them."""
        for resource in self._work.resources:
            self._remove(self._look(resource, keepable=False))
        self._tidy(())
        return contract.Done(facts=self._changes({}))

    def _changes(self, ids: Mapping[str, str]) -> dict[str, Any]:
        facts = dataclasses.replace(self._facts, floating_ips=ids)
        return facts.changes(self._work.reservation)

    def _tidy(self, kept: Collection[str]) -> None:
        """Delete the floating IPs of the reservation whose ids are not in *kept*.

        They are found by their description: a call that hung can create a floating IP,
        but only a later call sets tags.
        """
        mark = marks.of(self._work.reservation.id)
        for address in self._neutron.list_floating_ips(description=mark):
            if address.id not in kept and marks.is_of(self._work, address, None):
                self._neutron.delete_floating_ip(address.id)

    def _look(self, resource: Resource, *, keepable: bool) -> _LeasedAddress:
        network_id = str(resource.attributes['floating_network_id'])
        address = str(resource.attributes['floating_ip_address'])
        existing = self._neutron.find_floating_ip(network_id, address)
        known = self._known.get(address)
        return _LeasedAddress(
            resource_id=resource.id or 0,
            network_id=network_id,
            subnet_id=str(resource.attributes['subnet_id']),
            address=address,
            found=existing,
            ours=existing is not None and marks.is_of(self._work, existing, known),
            had=known is not None,
            keepable=keepable,
        )

    def _parted(self) -> tuple[list[_LeasedAddress], list[_LeasedAddress]]:
        """Return the addresses that stay and those that go.

        If the project has had all of them, others than suggested can go, as long as
        the reservation could keep those that stay. Then addresses in use stay first,
        and required ones, and those that are not removed yet.
        """
        end = self._work.lease.period.end
        stay = [
            self._look(self._resources[item.resource_id], keepable=True)
            for item in self._work.allocations
        ]
        go = [
            self._look(self._resources[item.resource_id], keepable=item.period.end >= end)
            for item in self._work.leaving
        ]
        free = [item for item in go if item.keepable]
        if free and all(item.had for item in stay):
            ranked = sorted([*stay, *free], key=self._rank)
            go = [*ranked[len(stay) :], *(item for item in go if not item.keepable)]
            stay = ranked[: len(stay)]
        stuck = [item.address for item in go if item.attached or self._is_required(item)]
        if stuck:
            raise exceptions.Permanent(
                'fewer floating IPs would not leave those that are in use, or required: '
                + ', '.join(stuck)
            )
        return stay, go

    def _is_required(self, item: _LeasedAddress) -> bool:
        return item.address in self._required

    def _rank(self, item: _LeasedAddress) -> tuple[bool, bool, bool]:
        """Return a sort key; addresses that the project needs most come first."""
        needed = item.attached or self._is_required(item)
        return not needed, not item.attached, not item.ours

    def _give(self, item: _LeasedAddress, repaired: list[str]) -> str:
        """Make sure that the project has the floating IP of an address, and return its id."""
        existing = item.found
        if existing is not None and not item.ours:
            # Only the log names the project, which the owner of the lease must not see.
            LOG.warning(
                'Floating IP %s of reservation %s is not of the lease, but of project %s',
                item.address,
                self._work.reservation.id,
                existing.project_id,
            )
            message = f'floating IP {item.address} is not of the lease'
            if marks.strange(existing) and not item.had:
                raise exceptions.ResourceUnusable(
                    message, resource_id=item.resource_id, reason=TAKEN
                )
            raise exceptions.Transient(message)
        if existing is not None and existing.project_id != self._work.lease.project_id:
            # Neutron cannot transfer a floating IP to another project.
            self._neutron.delete_floating_ip(existing.id)
            repaired.append(f'floating IP {item.address} was of another project')
            existing = None
        elif existing is None:
            repaired.append(f'floating IP {item.address} was missing')
        if existing is None:
            existing = self._made(item)
        wanted = marks.tags(self._work.reservation.id)
        if not wanted <= existing.tags:
            self._tag(existing, repaired)
        return existing.id

    def _made(self, item: _LeasedAddress) -> FloatingIP:
        # Another floating IP may just have taken it, or an operator has given it to
        # another kind of port; both can be repaired.
        with as_transient(CloudConflict):
            return self._neutron.create_floating_ip(
                item.network_id,
                self._work.lease.project_id,
                subnet_id=item.subnet_id,
                address=item.address,
                description=marks.of(self._work.reservation.id),
            )

    def _tag(self, existing: FloatingIP, repaired: list[str]) -> None:
        if existing.id in self._known.values():
            repaired.append(f'floating IP {existing.address} had lost its tags')
        others = {tag for tag in existing.tags if not marks.reservations({tag})}
        with as_transient(CloudNotFound):
            self._neutron.set_floating_ip_tags(
                existing.id, others | marks.tags(self._work.reservation.id)
            )

    def _remove(self, item: _LeasedAddress) -> None:
        if item.found is not None and item.ours:
            self._neutron.delete_floating_ip(item.found.id)
