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

"""nova-compute services, over python-novaclient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from climate.clients.base import CloudNotFound
from climate.clients.base import ComputeService
from climate.clients.nova.hypervisors import COMPUTE_BINARY
from climate.clients.nova.verbs import NovaVerbs


class NovaServices(NovaVerbs):
    """Implements :class:`climate.clients.protocols.services.ComputeServices`."""

    def list_services(self) -> tuple[ComputeService, ...]:
        """Return every nova-compute service, by host."""
        with self._errors.translated('list_services'):
            items = self._nova.services.list(binary=COMPUTE_BINARY)
            found = [_service(item.to_dict()) for item in items]
        return tuple(sorted(found, key=lambda service: service.host))

    def enable_service(self, host: str) -> None:
        """Enable scheduling to a service host."""
        service_id = self._service_id(host)
        with self._errors.translated('enable_service'):
            self._nova.services.enable(service_id)

    def disable_service(self, host: str, reason: str) -> None:
        """Disable scheduling to a service host."""
        service_id = self._service_id(host)
        with self._errors.translated('disable_service'):
            self._nova.services.disable_log_reason(service_id, reason)

    def _service_id(self, host: str) -> str:
        with self._errors.translated('list_services'):
            found = self._nova.services.list(host=host, binary=COMPUTE_BINARY)
            for item in found:
                if item.host == host:
                    return str(item.id)
        raise CloudNotFound(f'Nova has no nova-compute on {host}')


def _service(item: Mapping[str, Any]) -> ComputeService:
    # Since 2.69, Nova returns only the names of services in a cell that is down.
    return ComputeService(
        id=str(item.get('id', '')),
        host=item['host'],
        state='up' if item.get('state') == 'up' else 'down',
        status='enabled' if item['status'] == 'enabled' else 'disabled',
        disabled_reason=item.get('disabled_reason') or '',
    )
