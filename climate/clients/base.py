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

"""Our verbs over a cloud: what a client of a cloud must do, and what it tells.

These docstrings are the contract. ``tests/contract`` holds every client to it:
the real ones in :mod:`climate.clients.nova` and
:mod:`climate.clients.placement`, and their twin in
:mod:`climate.clients.fake`.

Every verb may raise :class:`climate.exceptions.Transient` (the service does
not answer in time, refuses connections, is overloaded or broken, or does not
accept our identity for the moment) and :class:`climate.exceptions.Permanent`
(it refuses and will go on refusing); this is not repeated below. After a
Transient the work may have been done all the same, with only the answer lost:
callers repeat the verb, or look first where a verb is not repeatable.

Failure and drift: no verb remembers what it did and nothing is cached. Others
change the cloud too (operators, other services, our own other processes), so
an answer is true for the instant at which it was given and no longer: callers
look, act, and treat a conflict as a reason to look again.

A *service host* is the name of the machine that runs nova-compute, as
aggregates and servers name it; a *hypervisor hostname* is what nova-compute
calls the machine that it manages. They are often the same text, not always.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal
from typing import Protocol

from climate import exceptions
from climate.domain.resources import Inventory

AVAILABILITY_ZONE_KEY = 'availability_zone'


class CloudNotFound(exceptions.Permanent):
    """What the verb is about does not exist in the cloud."""

    error_name = 'CLOUD_NOT_FOUND'
    template = 'The cloud has no such object'


class CloudConflict(exceptions.Permanent):
    """What the verb asks for contradicts the present state of the cloud.

    Trying again unchanged does not help; looking again may.
    """

    error_name = 'CLOUD_CONFLICT'
    template = 'The present state of the cloud does not allow this'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hypervisor:
    """A machine that runs servers.

    :ivar id: Nova's id of it, a UUID in text
    :ivar hostname: hypervisor hostname
    :ivar service_host: service host of its nova-compute
    :ivar memory_mb: memory, MiB
    :ivar local_gb: local disk, GiB
    :ivar cpu_info: what Nova knows of the processor: the text of a JSON
        object, ``{}`` if nothing is known
    :ivar state: ``up`` if its nova-compute reports regularly, else ``down``
    :ivar status: whether an administrator has ``enabled`` or ``disabled`` it
    :ivar availability_zone: '' if zones are not looked up
        (``[nova] az_aware``)
    """

    id: str
    hostname: str
    service_host: str
    hypervisor_type: str
    hypervisor_version: int
    vcpus: int
    memory_mb: int
    local_gb: int
    cpu_info: str
    state: Literal['up', 'down']
    status: Literal['enabled', 'disabled']
    availability_zone: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A virtual machine.

    :ivar host: service host that it runs on; '' if it runs nowhere
    :ivar hypervisor_hostname: '' if it runs nowhere
    :ivar status: Nova's word, such as ``ACTIVE``
    :ivar task_state: what Nova is doing with it, such as ``deleting``; None if
        nothing
    """

    id: str
    name: str
    project_id: str
    host: str
    hypervisor_hostname: str
    status: str
    task_state: str | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Aggregate:
    """A group of hosts, and perhaps an availability zone.

    :ivar availability_zone: zone that its hosts are in; None if it makes none
    :ivar hosts: service hosts, in alphabetical order
    :ivar metadata: without the key ``availability_zone``
    """

    id: int
    name: str
    availability_zone: str | None
    hosts: tuple[str, ...]
    metadata: Mapping[str, str]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """A resource provider of Placement.

    :ivar generation: goes up when its inventories or traits change
    :ivar parent_uuid: provider that it is nested in; None if it is a root
    """

    uuid: str
    name: str
    generation: int
    parent_uuid: str | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image made of a server.

    :ivar status: Glance's word, such as ``queued`` or ``active``
    """

    id: str
    name: str
    status: str


class Compute(Protocol):
    """What Climate wants of Nova."""

    def list_hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return every hypervisor, by hostname."""
        ...

    def find_hypervisor(self, name_or_id: str) -> Hypervisor | None:
        """Return the hypervisor of exactly this hostname, or else of this id.

        None if there is none.
        """
        ...

    def list_servers(self, service_host: str) -> tuple[Server, ...]:
        """Return the servers of all projects on a service host, by id.

        Servers that are being deleted are among them until they are gone. A
        host that does not exist has no servers.
        """
        ...

    def find_server(self, server_id: str) -> Server | None:
        """Return a server of any project; None if there is none."""
        ...

    def delete_server(self, server_id: str) -> None:
        """Begin to delete a server; fine if it is gone or going already.

        It takes a while: see :meth:`list_servers`.
        """
        ...

    def create_image(self, server_id: str, name: str) -> str:
        """Begin to make an image of a server and return the image's id.

        Repeating it makes another image: names of images are not unique.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """
        ...

    def list_aggregates(self) -> tuple[Aggregate, ...]:
        """Return every aggregate, by id."""
        ...

    def find_aggregate(self, name: str) -> Aggregate | None:
        """Return the aggregate of exactly this name; None if there is none."""
        ...

    def create_aggregate(self, name: str, availability_zone: str | None) -> Aggregate:
        """Make an empty aggregate, and its zone if one is named.

        :raises CloudConflict: if there is one of this name (perhaps made by a
            call before, whose answer was lost: see :meth:`find_aggregate`)
        """
        ...

    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> None:
        """Set the keys named; a None removes its key, others stay as they are.

        :raises CloudNotFound: if there is no such aggregate
        :raises climate.exceptions.Permanent: if the key ``availability_zone``
            is among them: a zone is given when an aggregate is made
        """
        ...

    def add_host(self, aggregate_id: int, host: str) -> None:
        """Put a service host into an aggregate; fine if it is in already.

        :raises CloudNotFound: if there is no such aggregate or host
        :raises CloudConflict: if the host is in an aggregate with another
            zone, or has servers and would change its zone
        """
        ...

    def remove_host(self, aggregate_id: int, host: str) -> None:
        """Take a service host out of an aggregate; fine if it is not in it.

        :raises CloudNotFound: if there is no such aggregate
        :raises CloudConflict: if the host has servers and would change its
            zone
        """
        ...

    def delete_aggregate(self, aggregate_id: int) -> None:
        """Remove an empty aggregate; fine if it is gone already.

        :raises CloudConflict: if it still has hosts
        """
        ...


class Placement(Protocol):
    """What Climate wants of Placement."""

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider of exactly this name; None if there is none."""
        ...

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Make a provider without inventories, nested in another or a root.

        :raises CloudConflict: if there is one of this name (perhaps made by a
            call before, whose answer was lost: see :meth:`find_provider`)
        :raises climate.exceptions.Permanent: if there is no such parent
        """
        ...

    def delete_provider(self, uuid: str) -> None:
        """Remove a provider; fine if it is gone already.

        :raises CloudConflict: if others are nested in it or something is
            allocated from it
        """
        ...

    def inventories(self, uuid: str) -> tuple[Inventory, ...]:
        """Return the inventories of a provider, by resource class.

        :raises CloudNotFound: if there is no such provider
        """
        ...

    def traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider.

        :raises CloudNotFound: if there is no such provider
        """
        ...


class Cloud(Protocol):
    """A cloud: its services under one roof. Used from many threads at once."""

    @property
    def compute(self) -> Compute:
        """Nova."""
        ...

    @property
    def placement(self) -> Placement:
        """Placement."""
        ...
