# SPDX-License-Identifier: Apache-2.0

"""Predicts which projects can schedule servers on which hosts, by the rules of Nova.

``tests/cloud`` verifies these rules with a real Nova.
"""

from __future__ import annotations

from collections.abc import Iterable

from climate.cloud.base import Aggregate
from climate.plugins.host.isolation import Isolation

FREEPOOL = 'freepool'
ZONE_PREFIX = 'blazar_'
OWNER_KEY = 'blazar:owner'


def may_land(
    project: str, host: str, aggregates: Iterable[Aggregate], isolation: Isolation
) -> bool:
    """Whether a project can get a server on a host, however it requests the host."""
    around = [item for item in aggregates if host in item.hosts]
    by_filter = isolation is Isolation.PLACEMENT or _blazar_passes(project, around)
    by_nova = isolation is Isolation.FILTER or _nova_passes(project, around)
    return by_filter and by_nova


def _blazar_passes(project: str, around: list[Aggregate]) -> bool:
    """Apply the BlazarFilter, which identifies pools by name and availability zone.

    A project may use a host in one of its own pools, and hosts in no pool.
    """
    leased = [item for item in around if (item.availability_zone or '').startswith(ZONE_PREFIX)]
    if not leased and all(item.name != FREEPOOL for item in around):
        return True
    return any(item.metadata.get(OWNER_KEY) == project for item in leased)


def _nova_passes(project: str, around: list[Aggregate]) -> bool:
    """Apply isolated aggregates, and then AggregateMultiTenancyIsolation."""
    words = [(key, value) for item in around for key, value in item.metadata.items()]
    if any(key.startswith('trait:') and value == 'required' for key, value in words):
        return False
    tenants = [value.split(',') for key, value in words if key.startswith('filter_tenant_id')]
    return not tenants or any(project in names for names in tenants)
