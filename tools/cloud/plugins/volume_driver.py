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

"""A driver of Cinder whose volumes have no bytes, those made of images included."""

from __future__ import annotations

from cinder.tests import fake_driver


class NoBytes(fake_driver.FakeLoggingVolumeDriver):
    """Cinder's own fake, which would download an image and look into it as root."""

    def clone_image(self, context, volume, image_location, image_meta, image_service):
        """Say that the volume has the content of the image."""
        return {}, True
