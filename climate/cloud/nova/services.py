# SPDX-License-Identifier: Apache-2.0

"""nova-compute services, over python-novaclient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from climate.cloud.base import CloudNotFound
from climate.cloud.base import ComputeService
from climate.cloud.nova.hypervisors import COMPUTE_BINARY
from climate.cloud.nova.verbs import NovaVerbs


class NovaServices(NovaVerbs):
    """Implements :class:`climate.cloud.protocols.services.ComputeServices`."""

    def list_services(self) -> tuple[ComputeService, ...]:
        """Return every nova-compute service, by host."""
        with self._errors.translated('list_services'):
            items = self._nova.services.list(binary=COMPUTE_BINARY)
            services = [_service(item.to_dict()) for item in items]
        return tuple(sorted(services, key=lambda service: service.host))

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
            services = self._nova.services.list(host=host, binary=COMPUTE_BINARY)
            for item in services:
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
