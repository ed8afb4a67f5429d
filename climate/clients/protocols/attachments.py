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

"""Attachments of volumes to servers in Nova."""

from __future__ import annotations

from typing import Protocol


class Attachments(Protocol):
    """Operations on the volumes of servers, in all projects."""

    def detach_volume(self, server_id: str, volume_id: str) -> None:
        """Start to detach a volume from a server.

        A no-op if it is not attached or the server does not exist. Detaching takes a
        while; see :attr:`climate.clients.protocols.volumes.Volume.status`.

        :raises CloudConflict: if Nova is busy with the server or the volume, for
            example because it is already detaching the volume
        """
        ...
