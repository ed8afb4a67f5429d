# SPDX-License-Identifier: Apache-2.0

"""What the walk books of storage pools and volumes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import TYPE_CHECKING

from climate.domain.leases import Lease
from climate.simulator import SimulatedCloud
from climate.simulator.volume_contents import POOL
from climate.simulator.volume_types import DEFAULT_TYPE
from tests.functional.manager import harness
from tests.functional.manager.walk.deployment import WalkDeployment

if TYPE_CHECKING:
    from climate.testing.kinds import TypeRegistrar

POOLS = ('gold-1', 'gold-2', 'gold-3')
# A whole life is its start and its end; what fails for ever would be undone for
# an hour, every few seconds.
_LIFE = {'start', 'move', 'prolong', 'end', 'delete', 'delete booked', 'delete prepared'}
_SIZES = {'grow', 'undo grow', 'shrink', 'undo shrink'}
_ALL = frozenset({*_LIFE, *_SIZES, 'check', 'rebuild', 'sweep'})
OF_POOLS = _ALL
# What was in a volume nobody can make anew; and one that is left over is never
# swept up: it may be what somebody has saved.
OF_VOLUMES = _ALL - {'rebuild', 'sweep'}
OF_SAVED = frozenset({'start', 'delete booked', 'end', 'delete'})


def pools(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    """Return a reservation of two pools of three."""
    for name in POOLS:
        place.cloud.volumes.add_pool(f'storage@{name}#{name}', name, 100.0)
        place.register('physical:storage', f'storage@{name}#{name}')
    return ({'resource_type': 'physical:storage', 'min': 2, 'max': 2},)


def fill(site: WalkDeployment, lease: Lease) -> None:
    """Make a volume in a leased pool."""
    name = f'reservation:{lease.reservations[0].id}'
    user = site.cloud.of_caller(f'{harness.CALLER.user_id}:{harness.PROJECT}')
    user.volume.create_volume('left', 1, volume_type=name)


def made(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    """Return a reservation of volumes that are to be made."""
    place.cloud.put_member(harness.CALLER.user_id, harness.PROJECT, 'member')
    place.register('physical:storage', POOL)
    _server(place)
    sizes = {'size': 10, 'volume_type': DEFAULT_TYPE, 'amount': 2}
    return ({'resource_type': 'virtual:volume', **sizes, 'on_end': ['detach', 'delete']},)


def existing(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    """Return a reservation of a volume that is there."""
    volume = place.cloud.volumes.add_volume('mine', harness.PROJECT)
    _server(place)
    return ({'resource_type': 'virtual:volume', 'volume_id': volume.id, 'on_end': ['detach']},)


def saved(place: TypeRegistrar) -> tuple[Mapping[str, Any], ...]:
    """Return a reservation of a volume that is backed up and deleted at the end."""
    place.cloud.put_member(harness.CALLER.user_id, harness.PROJECT, 'member')
    (request,) = existing(place)
    return ({**request, 'on_end': ['detach', 'backup', 'delete']},)


def lost(cloud: SimulatedCloud) -> str:
    """Say what is wrong: the volume is gone, and there is not one good backup of it."""
    if cloud.volumes.volumes():
        return ''
    found = [(item.status, item.project_id) for item in cloud.volumes.backups()]
    if found == [('available', harness.PROJECT)]:
        return ''
    return f'the volume is gone, and its backups are {found}'


def put_away(cloud: SimulatedCloud) -> None:
    """Take away what the end of a lease leaves on purpose, or not."""
    for backup in cloud.volumes.backups():
        cloud.volume.delete_backup(backup.id)
    for volume in cloud.volumes.volumes():
        cloud.volume.delete_volume(volume.id)
    # What was to go at once is gone when somebody looks.
    cloud.volumes.volumes()


def _server(place: TypeRegistrar) -> None:
    place.cloud.boot_server('compute-1', harness.PROJECT, 'server')


def attach(site: WalkDeployment, _lease: Lease) -> None:
    """Attach a volume to a server."""
    servers = [item for item in site.cloud.servers() if item.name == 'server']
    site.cloud.volumes.attach(site.cloud.volumes.volumes()[0].id, servers[0].id)
