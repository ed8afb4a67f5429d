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
"""The floating IPs of one reservation, as Neutron has them."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import CloudConflict
from climate.clients.base import CloudNotFound
from climate.clients.base import FloatingIP
from climate.clients.base import Networking
from climate.domain.resources import Resource
from climate.plugins import contract
from climate.plugins import marks
from climate.plugins.floating_ip.facts import FloatingIPFacts

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """An address that the reservation has or gives up.

    :ivar found: what Neutron has at the address
    :ivar ours: whether that was made for the reservation
    :ivar had: whether the project has been given it before
    :ivar for_long: whether the reservation could keep it to its end
    """

    resource_id: int
    network_id: str
    subnet_id: str
    address: str
    found: FloatingIP | None
    ours: bool
    had: bool
    for_long: bool

    @property
    def attached(self) -> bool:
        """Whether it is in use."""
        return self.ours and self.found is not None and self.found.port_id is not None


class AddressEffects:
    """Brings them to what they should be; every step can be taken twice.

    :param required: addresses that the reservation keeps rather than others
    """

    def __init__(self, work: contract.Work, neutron: Networking, required: Iterable[str]) -> None:
        self._work = work
        self._neutron = neutron
        self._required = frozenset(required)
        self._facts = FloatingIPFacts.of(work.reservation)
        self._known = self._facts.floating_ips
        self._resources = {resource.id: resource for resource in work.resources}

    def settle(self) -> contract.Done:
        """Make those that are to be, remove those that are not.

        :raises climate.exceptions.Permanent: if that would take away what is in use
        """
        done, _ = self._settled()
        return done

    def _settled(self) -> tuple[contract.Done, Collection[str]]:
        """Settle, and return the ids of the floating IPs as well."""
        stay, go = self._parted()
        repaired: list[str] = []
        ids = {place.address: self._give(place, repaired) for place in stay}
        undone = [self._look(resource, for_long=False) for resource in self._work.undone]
        for place in (*go, *undone):
            self._remove(place)
        suggested = {item.resource_id for item in self._work.allocations}
        kept = {place.resource_id: 1 for place in stay}
        done = contract.Done(
            facts=self._changes(ids),
            repaired=tuple(repaired),
            kept=None if set(kept) == suggested else kept,
        )
        return done, ids.values()

    def check(self) -> contract.Done:
        """Settle, and remove what a manager that hung has made of an address given up since."""
        done, ids = self._settled()
        self._tidy(ids)
        return done

    def remove(self) -> contract.Done:
        """Remove all of them."""
        for resource in self._work.resources:
            self._remove(self._look(resource, for_long=False))
        self._tidy(())
        return contract.Done(facts=self._changes({}))

    def _changes(self, ids: Mapping[str, str]) -> dict[str, Any]:
        facts = dataclasses.replace(self._facts, floating_ips=ids)
        return facts.changes(self._work.reservation)

    def _tidy(self, kept: Collection[str]) -> None:
        """Remove what was made for the reservation, except what is *kept*.

        A call that hung can only make a floating IP: tags are set by the next.
        """
        mark = marks.of(self._work.reservation.id)
        for found in self._neutron.list_floating_ips(description=mark):
            if found.id not in kept and marks.is_of(self._work, found, None):
                self._neutron.delete_floating_ip(found.id)

    def _look(self, resource: Resource, *, for_long: bool) -> _Place:
        network_id = str(resource.attributes['floating_network_id'])
        address = str(resource.attributes['floating_ip_address'])
        found = self._neutron.find_floating_ip(network_id, address)
        known = self._known.get(address)
        return _Place(
            resource_id=resource.id or 0,
            network_id=network_id,
            subnet_id=str(resource.attributes['subnet_id']),
            address=address,
            found=found,
            ours=found is not None and marks.is_of(self._work, found, known),
            had=known is not None,
            for_long=for_long,
        )

    def _parted(self) -> tuple[list[_Place], list[_Place]]:
        """Return what stays and what goes.

        What goes may be others than was suggested, where the project has had
        all of them and could keep each: then what is in use stays, and what
        is required, and what is not removed yet.
        """
        end = self._work.lease.period.end
        stay = [
            self._look(self._resources[item.resource_id], for_long=True)
            for item in self._work.allocations
        ]
        go = [
            self._look(self._resources[item.resource_id], for_long=item.period.end >= end)
            for item in self._work.leaving
        ]
        free = [place for place in go if place.for_long]
        if free and all(place.had for place in stay):
            ranked = sorted([*stay, *free], key=self._rank)
            go = [*ranked[len(stay) :], *(place for place in go if not place.for_long)]
            stay = ranked[: len(stay)]
        stuck = [place.address for place in go if place.attached or self._is_required(place)]
        if stuck:
            raise exceptions.Permanent(
                'fewer floating IPs would not leave those that are in use, or required: '
                + ', '.join(stuck)
            )
        return stay, go

    def _is_required(self, place: _Place) -> bool:
        return place.address in self._required

    def _rank(self, place: _Place) -> tuple[bool, bool, bool]:
        """Return how dear a place is; the dearest first."""
        needed = place.attached or self._is_required(place)
        return not needed, not place.attached, not place.ours

    def _give(self, place: _Place, repaired: list[str]) -> str:
        """Have Neutron give an address to the project, and return the id."""
        found = place.found
        if found is not None and not place.ours:
            # Operators find in the log what the lease's owner is not to know.
            LOG.warning(
                'Floating IP %s of reservation %s is not of the lease, but of project %s',
                place.address,
                self._work.reservation.id,
                found.project_id,
            )
            raise exceptions.Transient(f'floating IP {place.address} is not of the lease')
        if found is not None and found.project_id != self._work.lease.project_id:
            # Neutron cannot hand a floating IP over.
            self._neutron.delete_floating_ip(found.id)
            repaired.append(f'floating IP {place.address} was of another project')
            found = None
        elif found is None:
            repaired.append(f'floating IP {place.address} was missing')
        if found is None:
            found = self._made(place)
        wanted = marks.tags(self._work.reservation.id)
        if not wanted <= found.tags:
            self._tag(found, repaired)
        return found.id

    def _made(self, place: _Place) -> FloatingIP:
        try:
            return self._neutron.create_floating_ip(
                place.network_id,
                self._work.lease.project_id,
                subnet_id=place.subnet_id,
                address=place.address,
                description=marks.of(self._work.reservation.id),
            )
        except CloudConflict as error:
            # Another floating IP has just taken it, or an operator has given it to
            # another kind of port: either can be repaired.
            raise exceptions.Transient(error.message) from error

    def _tag(self, found: FloatingIP, repaired: list[str]) -> None:
        if found.id in self._known.values():
            repaired.append(f'floating IP {found.address} had lost its tags')
        others = {tag for tag in found.tags if not marks.reservations({tag})}
        try:
            self._neutron.set_floating_ip_tags(
                found.id, others | marks.tags(self._work.reservation.id)
            )
        except CloudNotFound as error:
            raise exceptions.Transient(error.message) from error

    def _remove(self, place: _Place) -> None:
        if place.found is not None and place.ours:
            self._neutron.delete_floating_ip(place.found.id)
