# SPDX-License-Identifier: Apache-2.0

"""A driver for Cinder whose volumes are small files, regardless of their nominal size.

The fake driver of Cinder keeps no data for volumes, so they cannot be backed up. It also
downloads images, and inspects them as root.
"""

from __future__ import annotations

import pathlib
import shutil

from cinder import interface
from cinder.tests import fake_driver
from oslo_config import cfg


@interface.volumedriver
class SmallFiles(fake_driver.FakeLoggingVolumeDriver):
    """Keeps each volume in a file of a few bytes below ``state_path``."""

    VERSION = '1.0'

    def _path(self, name):
        return pathlib.Path(cfg.CONF.state_path) / 'volumes' / name

    def _ensure(self, name):
        """Return the file of a volume or snapshot; create it if it is missing."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(f'{name}\n', encoding='utf-8')
        return path

    def _copy(self, source, target):
        shutil.copyfile(self._ensure(source), self._ensure(target))

    def create_volume(self, volume):
        """Create the file."""
        self._ensure(volume.name)
        return super().create_volume(volume)

    def delete_volume(self, volume):
        """Delete the file."""
        self._path(volume.name).unlink(missing_ok=True)

    def create_snapshot(self, snapshot):
        """Copy the file of the volume."""
        self._copy(snapshot.volume_name, snapshot.name)

    def delete_snapshot(self, snapshot):
        """Delete the file of the snapshot."""
        self._path(snapshot.name).unlink(missing_ok=True)

    def create_volume_from_snapshot(self, volume, snapshot):
        """Copy the file of the snapshot."""
        self._copy(snapshot.name, volume.name)

    def create_cloned_volume(self, volume, src_vol):
        """Copy the file of the other volume."""
        self._copy(src_vol.name, volume.name)

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        """Report that the volume has the content of the image."""
        self._ensure(volume.name)
        return {}, True

    def validate_connector(self, connector):
        """Accept any connector: a file needs no initiator."""

    def initialize_connection(self, volume, connector):
        """Return the location of the file."""
        properties = super().initialize_connection(volume, connector)
        properties['driver_volume_type'] = 'local'
        properties['data']['device_path'] = str(self._ensure(volume.name))
        return properties
