# SPDX-License-Identifier: Apache-2.0

"""Groups of servers that run on the same host, or on different hosts."""

from __future__ import annotations

import dataclasses
from typing import Literal
from typing import Protocol

Policy = Literal['affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity']


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerGroup:
    """A group of servers.

    :ivar project_id: the project that owns it
    :ivar members: ids of servers, in alphabetical order
    """

    id: str
    name: str
    policy: Policy
    project_id: str
    members: tuple[str, ...]


class ServerGroups(Protocol):
    """Operations on server groups, in all projects."""

    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return every group, by id. Names are not unique."""

    def find_server_group(self, group_id: str) -> ServerGroup | None:
        """Return a group; None if it does not exist."""

    def create_server_group(self, name: str, policy: Policy) -> ServerGroup:
        """Create an empty group in the project of the client.

        Not idempotent: after a lost response, look for the name in
        :meth:`list_server_groups`.

        :raises CloudQuota: if the project has reached its limit of groups
        :raises climate.exceptions.Permanent: if the name or policy is not allowed
        """

    def delete_server_group(self, group_id: str) -> None:
        """Delete a group; a no-op if it does not exist. Its servers stay."""
