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

"""Everything that the twin has, by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from climate.clients.fake import aggregates
from climate.clients.fake import faults
from climate.clients.fake import flavors
from climate.clients.fake import floating_ips
from climate.clients.fake import heat
from climate.clients.fake import hypervisors
from climate.clients.fake import images
from climate.clients.fake import network
from climate.clients.fake import server_rows
from climate.clients.fake import snapshots
from climate.clients.fake import volume
from climate.clients.fake import volume_types
from climate.clients.fake.store import Db

Overview = Mapping[str, tuple[Any, ...]]
"""Dataclasses, by what they are called in the plural."""


def overview(db: Db) -> Overview:
    """Return all that people have made or could use, and the faults in force."""
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
