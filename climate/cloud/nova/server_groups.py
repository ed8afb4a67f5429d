# SPDX-License-Identifier: Apache-2.0

"""Server groups, over python-novaclient.

Requests use microversion 2.64, the first one in which a group has a single policy.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from climate.cloud.base import CloudNotFound
from climate.cloud.base import Policy
from climate.cloud.base import ServerGroup
from climate.cloud.errors import Errors
from climate.cloud.nova.verbs import ClientFactory
from climate.cloud.nova.verbs import NovaVerbs

MICROVERSION = '2.64'
_PAGE = 500


class NovaServerGroups(NovaVerbs):
    """Implements :class:`climate.cloud.protocols.servers.ServerGroups`."""

    def __init__(self, clients: ClientFactory, errors: Errors) -> None:
        super().__init__(clients, errors)
        self._groups = clients.client(MICROVERSION).server_groups
        self._groups_once = clients.once(MICROVERSION).server_groups

    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return every group, by id."""
        with self._errors.translated('list_server_groups'):
            groups: dict[str, ServerGroup] = {}
            # Nova has no markers here: pages shift if a group is created or deleted
            # meanwhile.
            while page := self._groups.list(limit=_PAGE, offset=len(groups), all_projects=True):
                groups |= {item.id: _group(item.to_dict()) for item in page}
        return tuple(groups[group_id] for group_id in sorted(groups))

    def find_server_group(self, group_id: str) -> ServerGroup | None:
        """Return a group; None if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('find_server_group'):
            return _group(self._groups.get(group_id).to_dict())
        return None

    def create_server_group(self, name: str, policy: Policy) -> ServerGroup:
        """Create an empty group in the project of the client."""
        with self._errors.translated('create_server_group'):
            return _group(self._groups_once.create(name, policy).to_dict())

    def delete_server_group(self, group_id: str) -> None:
        """Delete a group; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('delete_server_group'):
            self._groups.delete(group_id)


def _group(item: Mapping[str, Any]) -> ServerGroup:
    return ServerGroup(
        id=item['id'],
        name=item['name'],
        policy=item['policy'],
        project_id=item['project_id'],
        members=tuple(sorted(item['members'])),
    )
