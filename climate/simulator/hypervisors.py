# SPDX-License-Identifier: Apache-2.0

"""Simulated hypervisors and their nova-compute services."""

from __future__ import annotations

import sqlite3
import uuid

from climate import exceptions
from climate.cloud.base import CloudNotFound
from climate.cloud.base import ComputeService
from climate.cloud.base import Hypervisor
from climate.simulator.store import Db
from climate.simulator.verbs import LONGEST
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

# The zone of a host unless an aggregate defines another, as in Nova.
DEFAULT_ZONE = 'nova'

SCHEMA = """
CREATE TABLE IF NOT EXISTS hypervisors (
    id TEXT PRIMARY KEY,
    hostname TEXT NOT NULL UNIQUE,
    service_host TEXT NOT NULL,
    hypervisor_type TEXT NOT NULL,
    hypervisor_version INTEGER NOT NULL,
    vcpus INTEGER NOT NULL,
    memory_mb INTEGER NOT NULL,
    local_gb INTEGER NOT NULL,
    cpu_info TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('up', 'down')),
    status TEXT NOT NULL CHECK (status IN ('enabled', 'disabled')),
    disabled_reason TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS hypervisors_by_host ON hypervisors (service_host);
"""

_HYPERVISORS = """
SELECT h.*, coalesce(
    (SELECT a.availability_zone FROM aggregates a JOIN aggregate_hosts m ON m.aggregate_id = a.id
     WHERE m.host = h.service_host AND a.availability_zone IS NOT NULL LIMIT 1), ?
) AS availability_zone
FROM hypervisors h
"""


def hypervisors(db: Db) -> tuple[Hypervisor, ...]:
    """Return every hypervisor, by hostname."""
    rows = db.rows(f'{_HYPERVISORS} ORDER BY h.hostname', DEFAULT_ZONE)
    return tuple(_hypervisor(row) for row in rows)


def find_hypervisor(db: Db, name_or_id: str) -> Hypervisor | None:
    """Return the hypervisor with this hostname, or else with this id."""
    row = db.row(
        f'{_HYPERVISORS} WHERE h.hostname = ? OR h.id = ? ORDER BY h.hostname = ? DESC',
        DEFAULT_ZONE,
        name_or_id,
        name_or_id,
        name_or_id,
    )
    return None if row is None else _hypervisor(row)


def _hypervisor(row: sqlite3.Row) -> Hypervisor:
    values = dict(row)
    del values['disabled_reason']
    return Hypervisor(**values)


def _services(db: Db) -> tuple[ComputeService, ...]:
    # All nodes of one nova-compute, as with Ironic, have the same state and status.
    rows = db.rows(
        'SELECT service_host AS host, max(state) AS state, min(status) AS status,'
        ' max(disabled_reason) AS disabled_reason FROM hypervisors'
        ' GROUP BY service_host ORDER BY service_host'
    )
    return tuple(ComputeService(id=_service_id(row['host']), **dict(row)) for row in rows)


def _service_id(host: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f'nova-compute.{host}'))


def _enable_service(db: Db, host: str) -> None:
    _set_status(db, host, 'enabled', '')


def _disable_service(db: Db, host: str, reason: str) -> None:
    if not 1 <= len(reason) <= LONGEST:
        raise exceptions.Permanent('the reason must have from 1 to 255 characters')
    _set_status(db, host, 'disabled', reason)


def _set_status(db: Db, host: str, status: str, reason: str) -> None:
    if not db.update(
        'hypervisors', host, key='service_host', status=status, disabled_reason=reason
    ):
        raise CloudNotFound(f'the simulated cloud has no nova-compute on {host!r}')


class SimulatedHypervisors(ServiceVerbs):
    """Implements the protocols of hypervisors and nova-compute services."""

    list_hypervisors = verb('compute.list_hypervisors', hypervisors)
    find_hypervisor = verb('compute.find_hypervisor', find_hypervisor)
    list_services = verb('compute.list_services', _services)
    enable_service = verb('compute.enable_service', _enable_service)
    disable_service = verb('compute.disable_service', _disable_service)
