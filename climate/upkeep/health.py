# SPDX-License-Identifier: Apache-2.0

"""Records which hosts work, so that no lease is booked on a failed host.

A report that arrives twice, or at several managers, has no effect the second
time. The setting ``disabled`` belongs to operators; this module never changes it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate.clock import Clock
from climate.cloud.base import Cloud
from climate.cloud.base import ComputeService
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction
from climate.domain.health import ASLEEP
from climate.domain.health import HostReport
from climate.domain.health import MonitoredResource
from climate.plugins.contract import Plugin
from climate.resources import catalog

LOG = logging.getLogger(__name__)


class HostHealth:
    """Keeps the record of failed hosts up to date.

    :param plugins: the resource types, some of which have hosts as their resources
    """

    def __init__(self, store: Store, clock: Clock, plugins: Mapping[str, Plugin[Any]]) -> None:
        self._store = store
        self._clock = clock
        self._types = catalog.host_types(plugins)

    def receive(self, report: HostReport) -> bool:
        """Take a host out of the pool at once if the report names a fault.

        A report without a fault proves nothing, because Nova also sends one for a
        dead nova-compute: only a poll shows that the host works.

        :returns: whether to poll Nova
        """
        if not report.fault:
            return True
        faults = {report.service_host: report.fault}

        def write(tx: Transaction) -> list[str]:
            return _fail(tx, self._hosts(tx), faults)

        return bool(_logged(self._store.run(write)))

    def look(self, cloud: Cloud) -> bool:
        """Update the record of all hosts from the state of Nova's nova-computes.

        :returns: whether anything has changed
        :raises climate.exceptions.Transient: if Nova does not respond
        """
        with self._store.reading() as tx:
            hosts = self._hosts(tx)
        if not hosts:
            return False
        seen_at = self._clock.now()
        services = {service.host: service for service in cloud.compute.list_services()}
        if not any(host.service_host in services for host in hosts):
            LOG.warning('Nova lists none of the hosts; no host is marked as failed')
            return False
        faults = {host.service_host: _fault(services, host) for host in hosts}
        healthy = [
            host
            for host in hosts
            if host.failed and not host.unusable and not faults[host.service_host]
        ]
        if not healthy and all(host.failed for host in hosts if faults[host.service_host]):
            return False

        def write(tx: Transaction) -> list[str]:
            ids = tx.failures.recover([host.resource_id for host in healthy], seen_at)
            lines = [f'Host {host.name} works again' for host in healthy if host.resource_id in ids]
            return lines + _fail(tx, hosts, faults)

        return bool(_logged(self._store.run(write)))

    def _hosts(self, tx: Transaction) -> list[MonitoredResource]:
        return [host for name in self._types for host in tx.failures.watched(name)]


def _fail(
    tx: Transaction, hosts: Iterable[MonitoredResource], faults: Mapping[str, str]
) -> list[str]:
    faulty = [host for host in hosts if not host.failed and faults.get(host.service_host)]
    new = tx.failures.fail([host.resource_id for host in faulty])
    return [
        f'Host {host.name} is taken out of the pool: nova-compute on {host.service_host}: '
        f'{faults[host.service_host]}'
        for host in faulty
        if host.resource_id in new
    ]


def _fault(services: Mapping[str, ComputeService], host: MonitoredResource) -> str:
    service = services.get(host.service_host)
    if service is None:
        return 'Nova does not know it'
    if (service.status, service.disabled_reason) == ('disabled', ASLEEP):
        # Off, or on its way up or down, because no lease needs it yet.
        return ''
    if service.state != 'up':
        return 'it is down'
    if service.status != 'enabled':
        reason = service.disabled_reason
        return f'it is disabled: {reason}' if reason else 'it is disabled'
    return ''


def _logged(lines: list[str]) -> list[str]:
    # Only committed changes are logged.
    for line in lines:
        LOG.warning('%s', line)
    return lines
