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

"""Virtual machines."""

from __future__ import annotations

import dataclasses
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A virtual machine.

    :ivar host: service host that it runs on; '' if it runs nowhere
    :ivar hypervisor_hostname: '' if it runs nowhere
    :ivar status: Nova's word, such as ``ACTIVE``
    :ivar task_state: what Nova is doing with it, such as ``deleting``; None if
        nothing
    """

    id: str
    name: str
    project_id: str
    host: str
    hypervisor_hostname: str
    status: str
    task_state: str | None


class Servers(Protocol):
    """Verbs about servers."""

    def list_servers(self, service_host: str) -> tuple[Server, ...]:
        """Return the servers of all projects on a service host, by id.

        Servers that are being deleted are among them until they are gone. A
        host that does not exist has no servers.
        """
        ...

    def find_server(self, server_id: str) -> Server | None:
        """Return a server of any project; None if there is none."""
        ...

    def delete_server(self, server_id: str) -> None:
        """Begin to delete a server; fine if it is gone or going already.

        It takes a while: see :meth:`list_servers`.
        """
        ...

    def create_image(self, server_id: str, name: str) -> str:
        """Begin to make an image of a server and return the image's id.

        Repeating it makes another image: names of images are not unique.

        :raises CloudNotFound: if there is no such server
        :raises CloudConflict: if Nova is busy with the server, or its state
            does not allow it
        """
        ...
