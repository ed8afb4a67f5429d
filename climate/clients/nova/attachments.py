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

"""Volumes of servers, over python-novaclient."""

from __future__ import annotations

import contextlib

from climate.clients.base import CloudConflict
from climate.clients.base import CloudNotFound
from climate.clients.nova.verbs import NovaVerbs


class NovaAttachments(NovaVerbs):
    """Implements :class:`climate.clients.protocols.attachments.Attachments`."""

    def detach_volume(self, server_id: str, volume_id: str) -> None:
        """Start to detach a volume from a server; a no-op if it is not attached."""
        with contextlib.suppress(CloudNotFound):
            # Nova returns 400 if the state of the volume does not allow it.
            with self._errors.translated('detach_volume', bad_request=CloudConflict):
                self._nova.volumes.delete_server_volume(server_id, volume_id)
