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

"""Virtual machines."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A virtual machine.

    :ivar user_id: who has made it
    :ivar created_at: when that was, as exact as a second (aware UTC)
    :ivar host: service host that it runs on; '' if it runs nowhere, as one
        that is shelved and offloaded
    :ivar hypervisor_hostname: '' if it runs nowhere
    :ivar status: Nova's word, such as ``ACTIVE``; ``DELETED`` for an instant
        before it is gone
    :ivar task_state: what Nova is doing with it, such as ``deleting``; None if
        nothing
    :ivar flavor_id: flavor that it was made of, which may be gone by now
    :ivar volume_ids: the volumes that are attached to it, in alphabetical order
    :ivar locked: whether its owner has locked it
    :ivar fault: why it is in ``ERROR``; '' if it is not, and for an instant
        after it got there
    """

    id: str
    name: str
    project_id: str
    user_id: str
    created_at: datetime.datetime
    host: str
    hypervisor_hostname: str
    status: str
    task_state: str | None
    flavor_id: str
    metadata: Mapping[str, str]
    volume_ids: tuple[str, ...]
    locked: bool
    fault: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Nic:
    """What a server is connected to: a network, or a port that exists.

    :ivar fixed_ip: address that it gets in the network; any if None
    """

    network_id: str | None = None
    port_id: str | None = None
    fixed_ip: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerDraft:
    """A server to be.

    :ivar image_id: None if it boots from a volume
    :ivar nics: with none it gets no network
    :ivar user_data: text that the server reads when it boots
    :ivar block_device_mapping: in Nova's words, version 2 of them
    :ivar scheduler_hints: such as ``reservation``
    :ivar availability_zone: any if None
    :ivar security_groups: their names, or ids; the project's default if there are none
    :ivar host: service host that it must run on, whatever the scheduler says;
        for administrators; any if None
    """

    name: str
    flavor_id: str
    image_id: str | None = None
    nics: tuple[Nic, ...] = ()
    key_name: str | None = None
    user_data: str | None = None
    block_device_mapping: tuple[Mapping[str, object], ...] = ()
    scheduler_hints: Mapping[str, str] = dataclasses.field(default_factory=dict)
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    availability_zone: str | None = None
    security_groups: tuple[str, ...] = ()
    host: str | None = None


class Servers(Protocol):
    """Verbs about servers.

    Whatever is begun takes a while; :meth:`find_server` tells what became of
    it. Each verb that is repeated while it is under way, or after it was done,
    is fine. All but :meth:`create_server` concern servers of any project.
    """

    def list_servers(self, service_host: str) -> tuple[Server, ...]:
        """Return the servers of all projects on a service host, by id.

        Servers that are being deleted are among them until they are gone. A
        host that does not exist has no servers.
        """
        ...

    def list_servers_of_flavor(self, flavor_id: str) -> tuple[Server, ...]:
        """Return the servers of all projects made of a flavor, by id.

        On all hosts. The servers of a deleted flavor cannot be found by it:
        delete the servers first.
        """
        ...

    def list_servers_of_project(self, project_id: str) -> tuple[Server, ...]:
        """Return the servers of a project, by id; none if there is no such project."""
        ...

    def list_servers_since(self, instant: datetime.datetime) -> tuple[Server, ...]:
        """Return the servers of all projects made at *instant* or later, oldest first.

        Those that are gone by now are not among them.

        :param instant: aware UTC; fractions of a second do not count
        """
        ...

    def find_server(self, server_id: str) -> Server | None:
        """Return a server of any project; None if there is none."""
        ...

    def scheduler_hints(self, server_id: str) -> Mapping[str, object]:
        """Return the scheduler hints that a server was made with.

        None if the server is gone, and of a Nova that does not tell them: it
        does since microversion 2.100. A value is a text, or a list of them.
        """
        ...

    def set_server_metadata(self, server_id: str, metadata: Mapping[str, str]) -> None:
        """Set some metadata of a server of any project; what else it has stays.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it, such as that of a shelved one
        :raises CloudQuota: if it may have no more of it
        :raises climate.exceptions.Permanent: if a key or a value is too long,
            or has characters that Nova does not take
        """
        ...

    def create_server(self, draft: ServerDraft) -> str:
        """Begin to make a server in our own project and return its id.

        Repeating it makes another one: names of servers are not unique. A
        lack of room shows as its status ``ERROR`` and its fault.

        :raises CloudQuota: if the project may not have so much
        :raises CloudNotFound: never for what the draft names
        :raises climate.exceptions.Permanent: if something that the draft names
            does not exist, or is not allowed
        """
        ...

    def delete_server(self, server_id: str) -> None:
        """Begin to delete a server; fine if it is gone or going already.

        It takes a while: see :meth:`list_servers`.
        """
        ...

    def create_image(self, server_id: str, name: str) -> str:
        """Begin to make an image of a server and return the image's id.

        It can be used once Glance calls it ``active``; until then the server
        must not be deleted. Repeating it makes another image: names of images
        are not unique.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """
        ...

    def shelve_server(self, server_id: str) -> None:
        """Begin to shelve a server: an image is kept, it runs no more.

        It becomes ``SHELVED`` and, at once or after the time that the cloud
        has set, ``SHELVED_OFFLOADED``; its host has its room back an instant
        later, when the server has no host any more.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """
        ...

    def offload_server(self, server_id: str) -> None:
        """Begin to take a shelved server off its host, without further delay.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """
        ...

    def unshelve_server(self, server_id: str, host: str | None = None) -> None:
        """Begin to put a shelved server onto a host again, any that has room.

        If none has room it stays ``SHELVED_OFFLOADED``, without a fault.

        :param host: service host that it must be put onto, for administrators;
            it is not bound to an availability zone any more then
        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it; with a host also if it is not off its host yet
        :raises climate.exceptions.Permanent: if there is no such host
        """
        ...

    def suspend_server(self, server_id: str) -> None:
        """Begin to write the memory of a server to disk: ``SUSPENDED``.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """
        ...

    def resume_server(self, server_id: str) -> None:
        """Begin to let a suspended server go on: ``ACTIVE``.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """
        ...

    def stop_server(self, server_id: str) -> None:
        """Begin to switch a server off: ``SHUTOFF``.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """
        ...

    def start_server(self, server_id: str) -> None:
        """Begin to switch a server on: ``ACTIVE``.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """
        ...
