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

"""Sizes and kinds of servers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Flavor:
    """What a server gets.

    :ivar id: text of Nova's own or of who made it
    :ivar memory_mb: MiB
    :ivar disk_gb: root disk, GiB
    :ivar ephemeral_gb: a second disk, GiB
    :ivar swap_mb: MiB
    :ivar public: whether every project may use it
    :ivar extra_specs: further demands, such as ``trait:CUSTOM_X: required``
    """

    id: str
    name: str
    vcpus: int
    memory_mb: int
    disk_gb: int
    ephemeral_gb: int = 0
    swap_mb: int = 0
    public: bool = True
    extra_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)


class Flavors(Protocol):
    """Verbs about flavors."""

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return every flavor, private ones of all projects among them, by id."""
        ...

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor of exactly this id; None if there is none."""
        ...

    def create_flavor(self, flavor: Flavor) -> None:
        """Make a flavor as described, its extra specs included.

        Two requests: if the second one fails, there is a flavor without extra
        specs, which :meth:`set_extra_specs` repairs.

        :raises CloudConflict: if there is one of this id, or of this name
            (perhaps made by a call before, whose answer was lost: see
            :meth:`find_flavor`)
        :raises climate.exceptions.Permanent: if a value is not allowed
        """
        ...

    def delete_flavor(self, flavor_id: str) -> None:
        """Remove a flavor; fine if it is gone already. Its servers stay."""
        ...

    def set_extra_specs(self, flavor_id: str, specs: Mapping[str, str | None]) -> None:
        """Set the keys named; a None removes its key, others stay as they are.

        Whether a value makes sense shows when a server is made.

        :param specs: keys of 1 to 255 letters (a to z), digits, spaces and
            ``-_:.``; values of at most 255 characters
        :raises CloudNotFound: if there is no such flavor
        :raises climate.exceptions.Permanent: if one is none of these
        """
        ...

    def list_flavor_access(self, flavor_id: str) -> frozenset[str]:
        """Return the ids of the projects that may use a private flavor.

        :raises CloudNotFound: if there is no such flavor, or it is public
        """
        ...

    def add_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Let a project use a private flavor; fine if it may already.

        :raises CloudNotFound: if there is no such flavor
        :raises CloudConflict: if the flavor is public
        :raises climate.exceptions.Permanent: if Keystone knows no such project
        """
        ...

    def remove_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Let a project no longer use a private flavor; fine if it may not.

        Servers that it has of the flavor stay.

        :raises CloudNotFound: if there is no such flavor
        :raises CloudConflict: if the flavor is public
        """
        ...
