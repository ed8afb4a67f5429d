# SPDX-License-Identifier: Apache-2.0

"""Flavors: sizes and kinds of servers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Flavor:
    """The size and the extra specs of servers.

    :ivar id: a text that Nova or the creator has chosen
    :ivar memory_mb: MiB
    :ivar disk_gb: root disk, GiB
    :ivar ephemeral_gb: a second disk, GiB
    :ivar swap_mb: MiB
    :ivar public: whether every project may use it
    :ivar extra_specs: further requirements, such as ``trait:CUSTOM_X: required``
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
    """Operations on flavors."""

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return every flavor, including private ones of all projects, by id."""

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor of exactly this id; None if it does not exist."""

    def create_flavor(self, flavor: Flavor) -> None:
        """Create a flavor as described, its extra specs included.

        Sends two requests: if the second one fails, the flavor has no extra specs,
        which :meth:`set_extra_specs` can still add.

        :raises CloudConflict: if a flavor with this id or name exists (possibly created
            by an earlier call whose response was lost: see :meth:`find_flavor`)
        :raises climate.exceptions.Permanent: if a value is not allowed
        """

    def delete_flavor(self, flavor_id: str) -> None:
        """Delete a flavor; a no-op if it does not exist. Its servers stay."""

    def set_extra_specs(self, flavor_id: str, specs: Mapping[str, str | None]) -> None:
        """Set extra specs; None removes a key, and other keys stay as they are.

        Nova checks the values only when it creates a server.

        :param specs: keys of 1 to 255 letters (a to z), digits, spaces and
            ``-_:.``; values of at most 255 characters
        :raises CloudNotFound: if there is no such flavor
        :raises climate.exceptions.Permanent: if a key or value is invalid
        """

    def list_flavor_access(self, flavor_id: str) -> frozenset[str]:
        """Return the ids of the projects that may use a private flavor.

        :raises CloudNotFound: if there is no such flavor, or it is public
        """

    def add_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Grant a project access to a private flavor; a no-op if it already has access.

        :raises CloudNotFound: if there is no such flavor
        :raises CloudConflict: if the flavor is public
        :raises climate.exceptions.Permanent: if the project does not exist in Keystone
        """

    def remove_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Revoke a project's access to a private flavor; a no-op if it has none.

        Its servers with the flavor stay.

        :raises CloudNotFound: if there is no such flavor
        :raises CloudConflict: if the flavor is public
        """
