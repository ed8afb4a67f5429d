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

"""Reservable hosts: what they are, what operators say of them, when they are taken."""

from __future__ import annotations

import builtins
import dataclasses
import logging
import uuid
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Protocol

from climate import exceptions
from climate.clients.base import Cloud
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain.periods import Period
from climate.domain.requests import BusyPeriod
from climate.domain.requests import Caller
from climate.domain.requests import ResourceCalendar
from climate.domain.resources import PropertyKey
from climate.domain.resources import Resource
from climate.plugins.base import Plugin

LOG = logging.getLogger(__name__)

RESOURCE_TYPE = 'physical:host'
_LONGEST_KEY = 64

# Others' reservations are shown under ids made with this namespace: the same
# each time, and without a way back.
_OPAQUE = uuid.UUID('6ee1c08a-3c5f-4c8e-9f0e-5f2c2c7b7d11')


class Registry(Protocol):
    """Who takes hosts in and lets them go: a manager, over RPC."""

    def register_host(self, name: str, capabilities: Mapping[str, str]) -> int:
        """Take a host in; return its id."""
        ...

    def delete_host(self, host_id: int) -> None:
        """Let a host go."""
        ...


class Hosts:
    """What a caller can do with hosts.

    :param secret: mixed into the opaque ids, so that nobody can compute them
        from real ones
    """

    def __init__(self, store: Store, registry: Registry, secret: str = '') -> None:
        self._store = store
        self._registry = registry
        self._secret = secret

    def list(self, include_private: bool) -> list[Resource]:
        """Return all hosts, in id order.

        :param include_private: with the values of private properties
        """
        with self._store.reading() as tx:
            hosts = tx.resources.of_type(RESOURCE_TYPE)
            hidden = set() if include_private else tx.properties.private_names(RESOURCE_TYPE)
        return [_without(host, hidden) for host in hosts]

    def get(self, host_id: int, include_private: bool) -> Resource:
        """Return a host.

        :raises climate.exceptions.NotFound: if there is none of this id
        """
        with self._store.reading() as tx:
            host = tx.resources.get(RESOURCE_TYPE, host_id)
            hidden = set() if include_private else tx.properties.private_names(RESOURCE_TYPE)
        return _without(host, hidden)

    def create(self, caller: Caller, name: str, capabilities: Mapping[str, str]) -> Resource:
        """Take a hypervisor in as a reservable host.

        :param capabilities: what the operator says of it
        :raises climate.exceptions.ClimateError: if it is not there, has
            servers, or no manager answers
        """
        check_keys(capabilities)
        with self._store.reading() as tx:
            if tx.resources.named(RESOURCE_TYPE, name) is not None:
                raise exceptions.HostExists(host=name)
        return self.get(self._registry.register_host(name, capabilities), True)

    def update(self, host_id: int, capabilities: Mapping[str, str | None]) -> Resource:
        """Set what operators say of a host; None removes a value.

        :raises climate.exceptions.CapabilityInUse: if a reservation of the
            host requires a property that would change
        """
        check_keys(capabilities)

        def change(tx: Transaction) -> Resource:
            host = tx.resources.get(RESOURCE_TYPE, host_id, lock=True)
            changes = {
                name: value
                for name, value in capabilities.items()
                if host.capabilities.get(name) != value
            }
            _refuse_required(tx, host, changes)
            for name, value in changes.items():
                tx.properties.set_capability(host_id, name, value)
            tx.properties.register(RESOURCE_TYPE, changes)
            if changes:
                tx.resources.touch(host_id)
            return tx.resources.get(RESOURCE_TYPE, host_id)

        return self._store.run(change)

    def delete(self, host_id: int) -> None:
        """Let a host go.

        :raises climate.exceptions.HostInUse: if it is reserved now or later
        """
        with self._store.reading() as tx:
            tx.resources.get(RESOURCE_TYPE, host_id)
        self._registry.delete_host(host_id)

    def calendar(
        self,
        caller: Caller,
        *,
        resource_id: int | None = None,
        lease_id: str | None = None,
        reservation_id: str | None = None,
    ) -> builtins.list[ResourceCalendar]:
        """Return when hosts are taken; every host has a row, be it empty.

        :param resource_id: only this host
        :param lease_id: only what this lease has
        :param reservation_id: only what this reservation has
        :raises climate.exceptions.NotFound: if there is no host *resource_id*
        """
        with self._store.reading() as tx:
            if resource_id is None:
                names = tx.resources.names_of_type(RESOURCE_TYPE)
            else:
                names = {resource_id: tx.resources.get(RESOURCE_TYPE, resource_id).name}
            taken = tx.allocations.calendar(RESOURCE_TYPE, resource_id=resource_id)
        busy: dict[int, list[BusyPeriod]] = defaultdict(list)
        for host_id, shown in ((entry[0], self._shown(caller, *entry[1:])) for entry in taken):
            # Filtered by what the caller may know: an id that is shown opaque
            # must not be told by asking for the real one.
            if lease_id not in (None, shown.lease_id):
                continue
            if reservation_id not in (None, shown.reservation_id):
                continue
            busy[host_id].append(shown)
        return [
            ResourceCalendar(resource_id=host_id, resource_name=name, busy=tuple(busy[host_id]))
            for host_id, name in names.items()
        ]

    def property_keys(self, include_private: bool) -> builtins.list[PropertyKey]:
        """Return the names of what operators say, with the values in use."""
        with self._store.reading() as tx:
            keys = tx.properties.keys(RESOURCE_TYPE)
        return [key for key in keys if include_private or not key.private]

    def set_private(self, name: str, private: bool) -> PropertyKey:
        """Show a property to everybody, or to privileged callers only.

        :raises climate.exceptions.NotFound: if there is none of this name
        """
        return self._store.run(lambda tx: tx.properties.set_private(RESOURCE_TYPE, name, private))

    def _shown(
        self, caller: Caller, reservation_id: str, lease_id: str, project_id: str, period: Period
    ) -> BusyPeriod:
        if not caller.all_projects and project_id != caller.project_id:
            reservation_id, lease_id = (
                str(uuid.uuid5(_OPAQUE, self._secret + real)) for real in (reservation_id, lease_id)
            )
        return BusyPeriod(
            reservation_id=reservation_id,
            lease_id=lease_id,
            start=period.start,
            end=period.end,
        )


class Registrar:
    """The manager's side of a host's coming and going.

    :param plugin: the plugin of the type
    """

    def __init__(self, store: Store, plugin: Plugin[Any], cloud: Cloud) -> None:
        self._store = store
        self._plugin = plugin
        self._cloud = cloud

    def register_host(self, name: str, capabilities: Mapping[str, str]) -> int:
        """Take a host in; return its id.

        :raises climate.exceptions.ClimateError: if it cannot be; the cloud is
            then as it was
        """
        check_keys(capabilities)
        found = _translated(lambda: self._plugin.discover(name, self._cloud))
        host = dataclasses.replace(found, capabilities=dict(capabilities), reservable=False)

        def insert(tx: Transaction) -> int:
            if tx.resources.named(RESOURCE_TYPE, host.name) is not None:
                raise exceptions.HostExists(host=host.name)
            return tx.resources.insert(host)

        # Written down before the cloud is touched and opened to bookings after,
        # so that a host is never reservable without being set aside, and one
        # that another manager registers at the same moment is left alone.
        host_id = self._store.run(insert)
        try:
            _translated(lambda: self._plugin.admit(host, self._cloud))
        except Exception:
            self._withdraw(host)
            self._store.run(lambda tx: tx.resources.delete(host_id))
            raise
        self._store.run(lambda tx: tx.resources.set_reservable(host_id, True))
        return host_id

    def _withdraw(self, host: Resource) -> None:
        """Undo an admission that failed: it may have been done all the same.

        If the cloud does not answer this either, the host stays set aside, and
        registering it again goes on from there.
        """
        try:
            self._plugin.release(host, self._cloud)
        except exceptions.ClimateError as error:
            LOG.warning('Host %s may still be set aside: %s', host.name, error.message)

    def delete_host(self, host_id: int) -> None:
        """Let a host go.

        :raises climate.exceptions.HostInUse: if it is reserved now or later
        """

        def close(tx: Transaction) -> Resource:
            host = tx.resources.get(RESOURCE_TYPE, host_id, lock=True)
            if tx.allocations.in_use(host_id):
                raise exceptions.HostInUse(host=host.name)
            # Nobody can choose it any more; a booking under way loses the race.
            tx.resources.set_reservable(host_id, False)
            return host

        host = self._store.run(close)
        try:
            _translated(lambda: self._plugin.release(host, self._cloud))
        except exceptions.ClimateError:
            self._store.run(lambda tx: tx.resources.set_reservable(host_id, host.reservable))
            raise
        self._store.run(lambda tx: tx.resources.delete(host_id))


def check_keys(capabilities: Mapping[str, Any]) -> None:
    """Check the names of what an operator says.

    :raises climate.exceptions.InvalidInput: naming the one that is wrong
    """
    for name in capabilities:
        if len(name) > _LONGEST_KEY:
            raise exceptions.ExtraCapabilityTooLong
        if not name:
            raise exceptions.InvalidInput('The name of an extra capability is empty')


def _translated(work: Callable[[], Any]) -> Any:
    """Run cloud calls on behalf of a caller who waits: no second try."""
    try:
        return work()
    except exceptions.Transient as error:
        raise exceptions.CloudUnavailable(service='Nova', reason=error.message) from error
    except exceptions.Permanent as error:
        raise exceptions.Conflict(error.message) from error


def _without(host: Resource, hidden: set[str]) -> Resource:
    if not hidden & set(host.capabilities):
        return host
    visible = {name: value for name, value in host.capabilities.items() if name not in hidden}
    return dataclasses.replace(host, capabilities=visible)


def _refuse_required(tx: Transaction, host: Resource, changes: Mapping[str, Any]) -> None:
    present = [name for name in changes if name in host.capabilities]
    if not present or host.id is None:
        return
    required = tx.reservations.required_of_resource(host.id)
    for name in present:
        if any(f'"${name}"' in text for text in required):
            raise exceptions.CapabilityInUse(name=name, host=host.name)
