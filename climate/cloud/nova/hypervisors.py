# SPDX-License-Identifier: Apache-2.0

"""Hypervisors and nova-compute services, over python-novaclient."""

from __future__ import annotations

import contextlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any

from climate.cloud.base import CloudNotFound
from climate.cloud.base import ComputeService
from climate.cloud.base import Hypervisor
from climate.cloud.errors import Errors
from climate.cloud.nova import pages
from climate.cloud.nova.verbs import ClientFactory
from climate.cloud.nova.verbs import NovaVerbs

COMPUTE_BINARY = 'nova-compute'
# The texts that Nova accepts as part of a name to search for; others get a 400.
_SEARCHABLE = re.compile(r'[a-zA-Z0-9._-]*')


class NovaHypervisors(NovaVerbs):
    """Implements :class:`climate.cloud.protocols.hypervisors.Hypervisors`."""

    def __init__(self, clients: ClientFactory, errors: Errors, az_aware: bool) -> None:
        super().__init__(clients, errors)
        self._az_aware = az_aware

    def list_hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return every hypervisor, by hostname."""
        with self._errors.translated('list_hypervisors'):
            zones = self._zones()
            hypervisors = [_hypervisor(item, zones) for item in self._every()]
        return tuple(sorted(hypervisors, key=lambda hypervisor: hypervisor.hostname))

    def _every(self) -> list[dict[str, Any]]:
        items = pages.every(lambda marker: self._nova.hypervisors.list(marker=marker))
        return [dict(item.to_dict()) for item in items]

    def find_hypervisor(self, name_or_id: str) -> Hypervisor | None:
        """Return the hypervisor with exactly this hostname, or else with this id."""
        with self._errors.translated('find_hypervisor'):
            item = self._hypervisor_named(name_or_id) or self._hypervisor_of_id(name_or_id)
            if item is None:
                return None
            return _hypervisor(item, self._zones(item['service']['host']))

    def _hypervisor_named(self, name: str) -> dict[str, Any] | None:
        if not _SEARCHABLE.fullmatch(name):
            return self._hypervisor_listed(name)
        # Nova searches for a part of the name, and returns 404 if nothing matches.
        with contextlib.suppress(CloudNotFound), self._errors.translated('find_hypervisor'):
            for item in self._nova.hypervisors.search(name, detailed=True):
                if item.to_dict()['hypervisor_hostname'] == name:
                    return dict(item.to_dict())
        return None

    def _hypervisor_listed(self, name: str) -> dict[str, Any] | None:
        for item in self._every():
            if item['hypervisor_hostname'] == name:
                return item
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
        """Return the availability zone of one service host, or of all, by host."""
        if not self._az_aware:
            return {}
        services = self._nova.services.list(host=host, binary=COMPUTE_BINARY)
        return {item.to_dict()['host']: item.to_dict()['zone'] for item in services}


def _hypervisor(item: Mapping[str, Any], zones: Mapping[str, str]) -> Hypervisor:
    service_host = item['service']['host']
    # Nova returns null for machines of unknown size.
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


class NovaServices(NovaVerbs):
    """Implements :class:`climate.cloud.protocols.hypervisors.ComputeServices`."""

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
