# SPDX-License-Identifier: Apache-2.0

"""Servers, over python-novaclient.

Requests use microversion 2.46, the last one in which a server has the id of its flavor;
later ones return the name and the sizes of the flavor instead. Since 2.91, a server can
be unshelved to a given host. Scheduler hints require 2.100, the first one that returns
them, which python-novaclient does not support.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import exceptions as ksa

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Nic
from climate.cloud.base import Server
from climate.cloud.base import ServerDraft
from climate.cloud.errors import Errors
from climate.cloud.nova import pages
from climate.cloud.nova.verbs import ClientFactory
from climate.cloud.nova.verbs import NovaVerbs
from climate.domain import names

MICROVERSION = '2.46'
UNSHELVE_MICROVERSION = '2.91'
HINTS_MICROVERSION = '2.100'

# The task of a server while an operation is in progress, and the statuses when it is complete.
_STATES = {
    'shelve_server': ('shelving', 'SHELVED', 'SHELVED_OFFLOADED'),
    'offload_server': ('shelving_offloading', 'SHELVED_OFFLOADED'),
    'unshelve_server': ('unshelving', 'ACTIVE'),
    'suspend_server': ('suspending', 'SUSPENDED'),
    'resume_server': ('resuming', 'ACTIVE'),
    'stop_server': ('powering-off', 'SHUTOFF'),
    'start_server': ('powering-on', 'ACTIVE'),
}


class NovaServers(NovaVerbs):
    """Implements :class:`climate.cloud.protocols.servers.Servers`."""

    def __init__(self, clients: ClientFactory, errors: Errors) -> None:
        super().__init__(clients, errors)
        self._servers = clients.client(MICROVERSION).servers
        self._servers_once = clients.once(MICROVERSION).servers
        self._servers_onto = clients.client(UNSHELVE_MICROVERSION).servers
        self._hints = clients.adapter(HINTS_MICROVERSION)

    def list_servers(self, service_host: str) -> tuple[Server, ...]:
        """Return the servers of all projects on a service host, by id."""
        with self._errors.translated('list_servers'):
            servers = self._listed(host=service_host)
        # Nova ignores a filter that the user may not use, and returns all servers of
        # the cloud. Callers delete the servers that this method returns.
        elsewhere = [server for server in servers if server.host != service_host]
        if elsewhere:
            raise exceptions.Permanent(
                f'Nova listed servers of hosts other than {service_host}: the user of [nova] may '
                'not filter servers by host'
            )
        return tuple(servers)

    def list_servers_of_flavor(self, flavor_id: str) -> tuple[Server, ...]:
        """Return the servers of all projects that use a flavor, by id."""
        with self._errors.translated('list_servers_of_flavor'):
            servers = self._listed(flavor=flavor_id)
        # Nova's search ignores case, like its database.
        return tuple(server for server in servers if server.flavor_id == flavor_id)

    def list_servers_of_project(self, project_id: str) -> tuple[Server, ...]:
        """Return the servers of a project, by id."""
        with self._errors.translated('list_servers_of_project'):
            servers = self._listed(project_id=project_id)
        # Nova may have ignored the filter, see list_servers.
        return tuple(server for server in servers if server.project_id == project_id)

    def list_servers_since(self, instant: datetime.datetime) -> tuple[Server, ...]:
        """Return the servers of all projects created since *instant*, oldest first."""
        first = instant.astimezone(datetime.UTC).replace(microsecond=0)
        with self._errors.translated('list_servers_since'):
            # A server that was created since then was also changed since then. Nova
            # includes deleted servers.
            changed = self._listed(**{'changes-since': first.strftime('%Y-%m-%dT%H:%M:%SZ')})
        new = (one for one in changed if one.created_at >= first and one.status != 'DELETED')
        return tuple(sorted(new, key=lambda one: (one.created_at, one.id)))

    def _listed(self, **wanted: str) -> list[Server]:
        options = {**wanted, 'all_tenants': True}
        items = pages.every(lambda marker: self._servers.list(search_opts=options, marker=marker))
        return sorted((_server(item.to_dict()) for item in items), key=lambda server: server.id)

    def find_server(self, server_id: str) -> Server | None:
        """Return a server of any project; None if it does not exist."""
        if not names.is_uuid(server_id):
            return None
        with contextlib.suppress(CloudNotFound), self._errors.translated('find_server'):
            return _server(self._servers.get(server_id).to_dict())
        return None

    def scheduler_hints(self, server_id: str) -> Mapping[str, object]:
        """Return the scheduler hints with which a server was created."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('scheduler_hints'):
            with contextlib.suppress(ksa.NotAcceptable):
                server = self._hints.get(f'/servers/{server_id}').json()['server']
                return dict(server.get('scheduler_hints') or {})
        return {}

    def set_server_metadata(self, server_id: str, metadata: Mapping[str, str]) -> None:
        """Set metadata of a server of any project; other keys stay as they are."""
        with self._errors.translated('set_server_metadata'):
            self._servers.set_meta(server_id, dict(metadata))

    def create_server(self, draft: ServerDraft) -> str:
        """Start to create a server in the project of the client and return its id."""
        with self._errors.translated('create_server'):
            made = self._servers_once.create(
                draft.name,
                draft.image_id,
                draft.flavor_id,
                nics=[_nic(nic) for nic in draft.nics] or 'none',
                meta=dict(draft.metadata),
                userdata=draft.user_data,
                key_name=draft.key_name,
                block_device_mapping_v2=[dict(item) for item in draft.block_device_mapping] or None,
                scheduler_hints=dict(draft.scheduler_hints),
                availability_zone=_zone(draft),
                security_groups=list(draft.security_groups) or None,
            )
            return str(made.id)

    def delete_server(self, server_id: str) -> None:
        """Start to delete a server; a no-op if it is gone or being deleted."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('delete_server'):
            self._servers.delete(server_id)

    def create_image(self, server_id: str, name: str) -> str:
        """Start to create an image of a server and return the image's id."""
        with self._errors.translated('create_image'):
            return str(self._servers_once.create_image(server_id, name))

    def shelve_server(self, server_id: str) -> None:
        """Start to shelve a server."""
        self._begin('shelve_server', self._servers.shelve, server_id)

    def offload_server(self, server_id: str) -> None:
        """Start to offload a shelved server."""
        self._begin('offload_server', self._servers.shelve_offload, server_id)

    def unshelve_server(self, server_id: str, host: str | None = None) -> None:
        """Start to unshelve a server."""
        action = self._servers.unshelve
        if host is not None:
            # The host may be in another zone than the server was.
            action = functools.partial(
                self._servers_onto.unshelve, availability_zone=None, host=host
            )
        self._begin('unshelve_server', action, server_id)

    def suspend_server(self, server_id: str) -> None:
        """Start to suspend a server."""
        self._begin('suspend_server', self._servers.suspend, server_id)

    def resume_server(self, server_id: str) -> None:
        """Start to resume a suspended server."""
        self._begin('resume_server', self._servers.resume, server_id)

    def stop_server(self, server_id: str) -> None:
        """Start to stop a server."""
        self._begin('stop_server', self._servers.stop, server_id)

    def start_server(self, server_id: str) -> None:
        """Start to start a stopped server."""
        self._begin('start_server', self._servers.start, server_id)

    def _begin(self, verb: str, action: Callable[[str], object], server_id: str) -> None:
        under_way, *done = _STATES[verb]
        try:
            with self._errors.translated(verb):
                action(server_id)
        except CloudConflict:
            # Nova also returns 409 if the operation is in progress or complete.
            server = self.find_server(server_id)
            if server is None:
                raise CloudNotFound(f'Nova no longer has server {server_id}') from None
            task = server.task_state or ''
            if not task.startswith(under_way) and (task or server.status not in done):
                raise

    def detach_volume(self, server_id: str, volume_id: str) -> None:
        """Start to detach a volume from a server; a no-op if it is not attached."""
        with contextlib.suppress(CloudNotFound):
            # Nova returns 400 if the state of the volume does not allow it.
            with self._errors.translated('detach_volume', bad_request=CloudConflict):
                self._nova.volumes.delete_server_volume(server_id, volume_id)


def _server(item: Mapping[str, Any]) -> Server:
    fault = (item.get('fault') or {}).get('message') or ''
    return Server(
        id=item['id'],
        name=item['name'],
        project_id=item['tenant_id'],
        user_id=item['user_id'],
        created_at=datetime.datetime.fromisoformat(item['created']),
        # Missing if a policy hides it, null if the server is on no host.
        host=item.get('OS-EXT-SRV-ATTR:host') or '',
        hypervisor_hostname=item.get('OS-EXT-SRV-ATTR:hypervisor_hostname') or '',
        status=item['status'],
        task_state=item.get('OS-EXT-STS:task_state'),
        flavor_id=item['flavor']['id'],
        metadata=dict(item['metadata']),
        volume_ids=tuple(
            sorted(each['id'] for each in item['os-extended-volumes:volumes_attached'])
        ),
        locked=bool(item['locked']),
        fault=fault if item['status'] == 'ERROR' else '',
    )


def _nic(nic: Nic) -> dict[str, str]:
    wanted = {'net-id': nic.network_id, 'port-id': nic.port_id, 'v4-fixed-ip': nic.fixed_ip}
    return {key: value for key, value in wanted.items() if value is not None}


def _zone(draft: ServerDraft) -> str | None:
    if draft.host is None:
        return draft.availability_zone
    return f'{draft.availability_zone or ""}:{draft.host}'
