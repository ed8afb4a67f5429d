# SPDX-License-Identifier: Apache-2.0

"""All objects in the simulated cloud, by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from climate.simulator import aggregates
from climate.simulator import faults
from climate.simulator import flavors
from climate.simulator import floating_ips
from climate.simulator import heat
from climate.simulator import hypervisors
from climate.simulator import images
from climate.simulator import network
from climate.simulator import server_rows
from climate.simulator import snapshots
from climate.simulator import volume
from climate.simulator import volume_types
from climate.simulator.store import Db

Overview = Mapping[str, tuple[Any, ...]]
"""Dataclasses by kind, such as ``hypervisors``."""


def overview(db: Db) -> Overview:
    """Return all objects that users own or could use, and the active faults."""
    networks = network.networks(db)
    return {
        'hypervisors': hypervisors.hypervisors(db),
        'aggregates': aggregates.aggregates(db),
        'flavors': flavors.flavors(db),
        'servers': server_rows.servers(db),
        'images': images.images(db),
        'networks': networks,
        'subnets': tuple(each for one in networks for each in network.subnets(db, one.id)),
        'floating_ips': floating_ips.floating_ips(db),
        'pools': volume_types.pools(db),
        'volume_types': volume_types.types(db),
        'volumes': volume.volumes(db),
        'snapshots': snapshots.all_snapshots(db),
        'backups': snapshots.all_backups(db),
        'stacks': heat.stacks(db),
        'faults': tuple(faults.present(db)),
    }
