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

"""Nova, over python-novaclient.

Failure and drift: see :mod:`climate.clients.base` for what callers must
expect, and :mod:`climate.clients.errors` for what becomes of errors. Every
call has a time-out. A request that got no answer is sent once more by the
library, but for those that make something: after a time-out nobody knows
whether it was made. Nothing here is cached, and there is no state, so an
object may be used from many threads.

Nova says 404 both when an aggregate is missing and when a host is not in it,
and 409 both for a conflict and for what is there already: these verbs look
again before they complain.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from novaclient import client as nova_client

from climate import exceptions
from climate.clients.base import Aggregate
from climate.clients.base import AVAILABILITY_ZONE_KEY
from climate.clients.base import CloudConflict
from climate.clients.base import CloudNotFound
from climate.clients.base import Hypervisor
from climate.clients.base import Server
from climate.clients.errors import Errors

_COMPUTE_BINARY = 'nova-compute'


@contextlib.contextmanager
def _no_cache(*_args: object, **_kwargs: object) -> Iterator[None]:
    """Stand in for novaclient's cache of names for the completion of shells.

    A service has no use for files in its home directory.
    """
    yield


class NovaCompute:
    """Fulfils :class:`climate.clients.base.Compute`.

    :param microversion: of the compute API, from 2.53 to 2.87
    :param errors: for Nova
    :param az_aware: whether zones of hypervisors are looked up
    :param connect_retries: how often a request without an answer is repeated
    :param adapter: further arguments of the keystoneauth adapter, the session
        among them
    """

    def __init__(
        self,
        *,
        microversion: str,
        errors: Errors,
        az_aware: bool,
        connect_retries: int,
        **adapter: Any,
    ) -> None:
        self._errors = errors
        self._az_aware = az_aware
        self._nova = _client(microversion, connect_retries=connect_retries, **adapter)
        # For requests that must not be sent twice.
        self._nova_once = _client(microversion, connect_retries=0, **adapter)

    def list_hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return every hypervisor, by hostname."""
        with self._errors.translated('list_hypervisors'):
            zones = self._zones()
            found: list[Hypervisor] = []
            # A page may be smaller than asked for, so only an empty one is the last.
            while page := self._nova.hypervisors.list(marker=found[-1].id if found else None):
                found.extend(_hypervisor(item.to_dict(), zones) for item in page)
        return tuple(sorted(found, key=lambda hypervisor: hypervisor.hostname))

    def find_hypervisor(self, name_or_id: str) -> Hypervisor | None:
        """Return the hypervisor of exactly this hostname, or else of this id."""
        with self._errors.translated('find_hypervisor'):
            found = self._hypervisor_named(name_or_id) or self._hypervisor_of_id(name_or_id)
            if found is None:
                return None
            return _hypervisor(found, self._zones(found['service']['host']))

    def _hypervisor_named(self, name: str) -> dict[str, Any] | None:
        # Nova searches for a part of the name and says 404 if nothing matches.
        with contextlib.suppress(CloudNotFound), self._errors.translated('find_hypervisor'):
            for item in self._nova.hypervisors.search(name, detailed=True):
                if item.to_dict()['hypervisor_hostname'] == name:
                    return dict(item.to_dict())
        return None

    def _hypervisor_of_id(self, text: str) -> dict[str, Any] | None:
        try:
            uuid.UUID(text)
        except ValueError:
            return None
        with contextlib.suppress(CloudNotFound), self._errors.translated('find_hypervisor'):
            return dict(self._nova.hypervisors.get(text).to_dict())
        return None

    def _zones(self, host: str | None = None) -> dict[str, str]:
        """Return the zones of service hosts, of one or of all."""
        if not self._az_aware:
            return {}
        services = self._nova.services.list(host=host, binary=_COMPUTE_BINARY)
        return {item.to_dict()['host']: item.to_dict()['zone'] for item in services}

    def list_servers(self, service_host: str) -> tuple[Server, ...]:
        """Return the servers of all projects on a service host, by id."""
        with self._errors.translated('list_servers'):
            wanted = {'host': service_host, 'all_tenants': True}
            items = self._nova.servers.list(search_opts=wanted, limit=-1)
            found = [_server(item.to_dict()) for item in items]
        # Nova ignores a filter that we may not use. Whoever deletes what this
        # verb returns must not be handed the servers of the whole cloud.
        strangers = [server for server in found if server.host != service_host]
        if strangers:
            raise exceptions.Permanent(
                f'Nova listed servers of other hosts than {service_host}: the user of [nova] may '
                'not filter servers by host'
            )
        return tuple(sorted(found, key=lambda server: server.id))

    def find_server(self, server_id: str) -> Server | None:
        """Return a server of any project; None if there is none."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('find_server'):
            return _server(self._nova.servers.get(server_id).to_dict())
        return None

    def delete_server(self, server_id: str) -> None:
        """Begin to delete a server; fine if it is gone or going already."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('delete_server'):
            self._nova.servers.delete(server_id)

    def create_image(self, server_id: str, name: str) -> str:
        """Begin to make an image of a server and return the image's id."""
        with self._errors.translated('create_image'):
            return str(self._nova_once.servers.create_image(server_id, name))

    def list_aggregates(self) -> tuple[Aggregate, ...]:
        """Return every aggregate, by id."""
        with self._errors.translated('list_aggregates'):
            found = [_aggregate(item.to_dict()) for item in self._nova.aggregates.list()]
        return tuple(sorted(found, key=lambda aggregate: aggregate.id))

    def find_aggregate(self, name: str) -> Aggregate | None:
        """Return the aggregate of exactly this name; None if there is none."""
        # Nova has no search for aggregates.
        return next((found for found in self.list_aggregates() if found.name == name), None)

    def create_aggregate(self, name: str, availability_zone: str | None) -> Aggregate:
        """Make an empty aggregate, and its zone if one is named."""
        with self._errors.translated('create_aggregate'):
            made = self._nova_once.aggregates.create(name, availability_zone)
            return _aggregate(made.to_dict())

    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> None:
        """Set the keys named; a None removes its key."""
        if AVAILABILITY_ZONE_KEY in metadata:
            raise exceptions.Permanent('the zone of an aggregate is given when it is made')
        present = self._get_aggregate(aggregate_id).metadata
        # Nova complains about the removal of a key that is not there.
        wanted = {
            key: value for key, value in metadata.items() if value is not None or key in present
        }
        if wanted:
            with self._errors.translated('set_aggregate_metadata'):
                self._nova.aggregates.set_metadata(aggregate_id, wanted)

    def add_host(self, aggregate_id: int, host: str) -> None:
        """Put a service host into an aggregate; fine if it is in already."""
        try:
            with self._errors.translated('add_host'):
                self._nova.aggregates.add_host(aggregate_id, host)
        except CloudConflict:
            if host not in self._get_aggregate(aggregate_id).hosts:
                raise

    def remove_host(self, aggregate_id: int, host: str) -> None:
        """Take a service host out of an aggregate; fine if it is not in it."""
        try:
            with self._errors.translated('remove_host'):
                self._nova.aggregates.remove_host(aggregate_id, host)
        except CloudNotFound:
            if host in self._get_aggregate(aggregate_id).hosts:
                raise

    def delete_aggregate(self, aggregate_id: int) -> None:
        """Remove an empty aggregate; fine if it is gone already."""
        try:
            with self._errors.translated('delete_aggregate'):
                self._nova.aggregates.delete(aggregate_id)
        except CloudNotFound:
            return
        except exceptions.Permanent:
            # Nova refuses with a 400 that says nothing of its kind.
            with contextlib.suppress(CloudNotFound):
                if self._get_aggregate(aggregate_id).hosts:
                    raise CloudConflict(f'aggregate {aggregate_id} still has hosts') from None
                raise

    def _get_aggregate(self, aggregate_id: int) -> Aggregate:
        with self._errors.translated('find_aggregate'):
            return _aggregate(self._nova.aggregates.get(aggregate_id).to_dict())


def _client(microversion: str, **adapter: Any) -> Any:
    nova = nova_client.Client(microversion, **adapter)
    for manager in (nova.aggregates, nova.hypervisors, nova.servers, nova.services):
        manager.completion_cache = _no_cache
    return nova


def _hypervisor(item: Mapping[str, Any], zones: Mapping[str, str]) -> Hypervisor:
    service_host = item['service']['host']
    # Nova knows nothing of the size of some machines, and says null.
    return Hypervisor(
        id=str(item['id']),
        hostname=item['hypervisor_hostname'],
        service_host=service_host,
        hypervisor_type=item['hypervisor_type'] or '',
        hypervisor_version=int(item['hypervisor_version'] or 0),
        vcpus=int(item['vcpus'] or 0),
        memory_mb=int(item['memory_mb'] or 0),
        local_gb=int(item['local_gb'] or 0),
        cpu_info=json.dumps(item['cpu_info'] or {}, sort_keys=True),
        state='up' if item['state'] == 'up' else 'down',
        status='enabled' if item['status'] == 'enabled' else 'disabled',
        availability_zone=zones.get(service_host, ''),
    )


def _server(item: Mapping[str, Any]) -> Server:
    return Server(
        id=item['id'],
        name=item['name'],
        project_id=item['tenant_id'],
        # Missing if policy hides them, null if the server runs nowhere.
        host=item.get('OS-EXT-SRV-ATTR:host') or '',
        hypervisor_hostname=item.get('OS-EXT-SRV-ATTR:hypervisor_hostname') or '',
        status=item['status'],
        task_state=item.get('OS-EXT-STS:task_state'),
    )


def _aggregate(item: Mapping[str, Any]) -> Aggregate:
    # The answer to a creation has neither hosts nor metadata.
    metadata = dict(item.get('metadata') or {})
    metadata.pop(AVAILABILITY_ZONE_KEY, None)
    return Aggregate(
        id=int(item['id']),
        name=item['name'],
        availability_zone=item['availability_zone'],
        hosts=tuple(sorted(item.get('hosts') or ())),
        metadata=metadata,
    )
