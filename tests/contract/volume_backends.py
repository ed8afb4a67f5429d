# SPDX-License-Identifier: Apache-2.0

"""The backends of the contract of volumes: what others do in Cinder and Nova."""

from __future__ import annotations

import abc
import contextlib

from tests import waiting
from tests.contract import backends
from tests.contract import network_backends
from tests.contract import real_backends

# How long a volume, a snapshot or a server may take to come or to go.
PATIENCE = 90.0


class Volumes(abc.ABC):
    """What others do; it is removed when the backend is closed."""

    @abc.abstractmethod
    def image(self) -> str:
        """Return an image that a volume of 1 GiB can be made of."""

    @abc.abstractmethod
    def attach(self, volume_id: str) -> str:
        """Attach a volume to a new server and return the server's id."""

    @abc.abstractmethod
    def quota(self, resource: str, more: int) -> None:
        """Let the project of the client have so many *more* than it has."""


class SimulatedVolumes(Volumes):
    """On a cloud."""

    def image(self) -> str:
        """Make one of a server."""
        return str(self.cloud.compute.create_image(self.boot('compute-1'), 'image'))

    def attach(self, volume_id: str) -> str:
        """Attach it."""
        server_id = str(self.boot('compute-1'))
        self.cloud.volumes.attach(volume_id, server_id)
        return server_id

    def quota(self, resource: str, more: int) -> None:
        """Set it."""
        contents = self.cloud.volumes
        used = {
            'volumes': len(contents.volumes()),
            'snapshots': len(contents.snapshots()),
            'gigabytes': sum(item.size_gb for item in (*contents.volumes(), *contents.snapshots())),
        }
        contents.set_quota('service', resource, used[resource] + more)

    def no_backups(self) -> None:
        """Take it away."""
        self.cloud.volumes.set_backup_service(False)


class SimulatedBackend(SimulatedVolumes, backends.SimulatedBackend):
    """The simulated cloud in memory."""


class FileSimulatedBackend(SimulatedVolumes, backends.FileSimulatedBackend):
    """The simulated cloud on a file."""


class RealBackend(Volumes, real_backends.RealBackend):
    """A real cloud, in which Climate's user does what others do."""

    FLAVOR, IMAGE, NETWORK = 'm1.tiny', 'tiny', 'shared'

    def __init__(self) -> None:
        super().__init__()
        self._left = contextlib.ExitStack()
        self.admin = network_backends.administrator()

    def image(self) -> str:
        """Return the one that is there."""
        return str(self.admin.image.find_image(self.IMAGE, ignore_missing=False).id)

    def attach(self, volume_id: str) -> str:
        """Start a server, and let Nova attach it."""
        nova = self.admin.compute
        network = self.admin.network.find_network(self.NETWORK, ignore_missing=False)
        server = nova.create_server(
            name=backends.unique(),
            image_id=self.image(),
            flavor_id=nova.find_flavor(self.FLAVOR, ignore_missing=False).id,
            networks=[{'uuid': network.id}],
        )
        waiting.until(
            lambda: nova.get_server(server.id).status == 'ACTIVE', PATIENCE, 'the server runs'
        )
        nova.create_volume_attachment(server.id, volume_id=volume_id)
        waiting.until(
            lambda: self.admin.block_storage.get_volume(volume_id).status == 'in-use',
            PATIENCE,
            'the volume is attached',
        )
        return str(server.id)

    def quota(self, resource: str, more: int) -> None:
        """Set it for the project of Climate's user."""
        cinder, project = self.admin.block_storage, self.admin.current_project_id
        used = cinder.get_quota_set(project, usage=True).usage[resource]
        cinder.update_quota_set(project, **{resource: used + more})
        self._left.callback(cinder.revert_quota_set, project)

    def close(self) -> None:
        """Remove what others have left."""
        self._left.close()
        super().close()
