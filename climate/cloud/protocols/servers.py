# SPDX-License-Identifier: Apache-2.0

"""Servers, which are virtual machines, and groups of them."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Literal
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A virtual machine.

    :ivar user_id: the user who created it
    :ivar created_at: the time of its creation, in whole seconds (aware UTC)
    :ivar host: the service host on which it runs; '' if it is on no host, such as a
        server that is shelved and offloaded
    :ivar hypervisor_hostname: '' if it is on no host
    :ivar status: the status in Nova, such as ``ACTIVE``; ``DELETED`` for an instant
        before it disappears
    :ivar task_state: the operation in progress, such as ``deleting``; None if there is
        none
    :ivar flavor_id: the flavor with which it was created; may be deleted by now
    :ivar volume_ids: the attached volumes, in alphabetical order
    :ivar locked: whether its owner has locked it
    :ivar fault: the reason for the status ``ERROR``; '' in any other status, and for an
        instant after the server goes into ``ERROR``
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
    """An interface of a server: on a network, or an existing port.

    :ivar fixed_ip: its address in the network; any if None
    """

    network_id: str | None = None
    port_id: str | None = None
    fixed_ip: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerDraft:
    """A server to create.

    :ivar image_id: None if it boots from a volume
    :ivar nics: its interfaces; none means no network
    :ivar user_data: text that the server reads when it boots
    :ivar block_device_mapping: Nova's ``block_device_mapping_v2``
    :ivar scheduler_hints: such as ``reservation``
    :ivar availability_zone: any if None
    :ivar security_groups: names or ids; the project's default group if empty
    :ivar host: the service host that it must run on, which the scheduler does not
        check; only for administrators; any if None
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
    """Operations on servers.

    Operations take a while; :meth:`find_server` shows their results. Repeating an
    operation while it runs, or after it has finished, has no further effect. All but
    :meth:`create_server` work on servers of any project.
    """

    def list_servers(self, service_host: str) -> tuple[Server, ...]:
        """Return the servers of all projects on a service host, by id.

        Includes servers that are being deleted. Empty if the host does not exist.
        """

    def list_servers_of_flavor(self, flavor_id: str) -> tuple[Server, ...]:
        """Return the servers of all projects that use a flavor, on all hosts, by id.

        The servers of a deleted flavor cannot be found: delete them before the flavor.
        """

    def list_servers_of_project(self, project_id: str) -> tuple[Server, ...]:
        """Return the servers of a project, by id; empty if it does not exist."""

    def list_servers_since(self, instant: datetime.datetime) -> tuple[Server, ...]:
        """Return the servers of all projects created since *instant*, oldest first.

        Deleted servers are not included.

        :param instant: aware UTC; fractions of a second are ignored
        """

    def find_server(self, server_id: str) -> Server | None:
        """Return a server of any project; None if it does not exist."""

    def scheduler_hints(self, server_id: str) -> Mapping[str, object]:
        """Return the scheduler hints with which a server was created.

        Empty if the server does not exist, or Nova does not support microversion 2.100,
        the first one that returns them. A value is a text or a list of texts.
        """

    def set_server_metadata(self, server_id: str, metadata: Mapping[str, str]) -> None:
        """Set metadata of a server of any project; other keys stay as they are.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state does not
            allow it: a shelved server, for example
        :raises CloudQuota: if the server has reached its limit of metadata
        :raises climate.exceptions.Permanent: if a key or a value is too long,
            or has characters that Nova does not accept
        """

    def create_server(self, draft: ServerDraft) -> str:
        """Start to create a server in the project of the client and return its id.

        Not idempotent: names of servers are not unique. If no host has room, the status
        of the server becomes ``ERROR``, with a fault.

        :raises CloudQuota: if the server exceeds the quota of the project
        :raises climate.exceptions.Permanent: if the draft refers to an object that does
            not exist (never CloudNotFound), or is not allowed
        """

    def delete_server(self, server_id: str) -> None:
        """Start to delete a server; a no-op if it is gone or being deleted.

        The deletion takes a while; see :meth:`list_servers`.
        """

    def create_image(self, server_id: str, name: str) -> str:
        """Start to create an image of a server and return the image's id.

        The image can be used once it is ``active`` in Glance; until then the server must
        not be deleted. Not idempotent: names of images are not unique.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """

    def shelve_server(self, server_id: str) -> None:
        """Start to shelve a server: Nova stops it and keeps an image of it.

        It becomes ``SHELVED`` and, at once or after a delay that the cloud defines,
        ``SHELVED_OFFLOADED``. Its host has the capacity again a moment later, when the
        server no longer has a host.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """

    def offload_server(self, server_id: str) -> None:
        """Start to offload a shelved server, without further delay.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """

    def unshelve_server(self, server_id: str, host: str | None = None) -> None:
        """Start to unshelve a server.

        If no host has room, it stays ``SHELVED_OFFLOADED``, without a fault.

        :param host: the service host to use, only for administrators; the server is
            then no longer bound to an availability zone; any host with room if None
        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it; with *host*, also if it is not offloaded yet
        :raises climate.exceptions.Permanent: if there is no such host
        """

    def suspend_server(self, server_id: str) -> None:
        """Start to suspend a server, which becomes ``SUSPENDED``.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """

    def resume_server(self, server_id: str) -> None:
        """Start to resume a suspended server, which becomes ``ACTIVE``.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """

    def stop_server(self, server_id: str) -> None:
        """Start to stop a server, which becomes ``SHUTOFF``.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """

    def start_server(self, server_id: str) -> None:
        """Start to start a stopped server, which becomes ``ACTIVE``.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """

    def detach_volume(self, server_id: str, volume_id: str) -> None:
        """Start to detach a volume from a server.

        A no-op if it is not attached or the server does not exist. Detaching takes a
        while; see :attr:`climate.cloud.protocols.volumes.Volume.status`.

        :raises CloudConflict: if Nova is busy with the server or the volume, for
            example because it is already detaching the volume
        """


Policy = Literal['affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity']


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerGroup:
    """A group of servers.

    :ivar project_id: the project that owns it
    :ivar members: ids of servers, in alphabetical order
    """

    id: str
    name: str
    policy: Policy
    project_id: str
    members: tuple[str, ...]


class ServerGroups(Protocol):
    """Operations on server groups, in all projects."""

    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return every group, by id. Names are not unique."""

    def find_server_group(self, group_id: str) -> ServerGroup | None:
        """Return a group; None if it does not exist."""

    def create_server_group(self, name: str, policy: Policy) -> ServerGroup:
        """Create an empty group in the project of the client.

        Not idempotent: after a lost response, look for the name in
        :meth:`list_server_groups`.

        :raises CloudQuota: if the project has reached its limit of groups
        :raises climate.exceptions.Permanent: if the name or policy is not allowed
        """

    def delete_server_group(self, group_id: str) -> None:
        """Delete a group; a no-op if it does not exist. Its servers stay."""
