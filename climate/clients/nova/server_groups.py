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

"""Server groups, over python-novaclient.

Requests use microversion 2.64, the first one in which a group has a single policy.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from climate.clients.base import CloudNotFound
from climate.clients.base import Policy
from climate.clients.base import ServerGroup
from climate.clients.errors import Errors
from climate.clients.nova.verbs import ClientFactory
from climate.clients.nova.verbs import NovaVerbs

MICROVERSION = '2.64'
_PAGE = 500


class NovaServerGroups(NovaVerbs):
    """Implements :class:`climate.clients.protocols.server_groups.ServerGroups`."""

    def __init__(self, clients: ClientFactory, errors: Errors) -> None:
        super().__init__(clients, errors)
        self._groups = clients.client(MICROVERSION).server_groups
        self._groups_once = clients.once(MICROVERSION).server_groups

    def list_server_groups(self) -> tuple[ServerGroup, ...]:
        """Return every group, by id."""
        with self._errors.translated('list_server_groups'):
            found: dict[str, ServerGroup] = {}
            # Nova has no markers here: pages shift if a group is created or deleted
            # meanwhile.
            while page := self._groups.list(limit=_PAGE, offset=len(found), all_projects=True):
                found |= {item.id: _group(item.to_dict()) for item in page}
        return tuple(found[group_id] for group_id in sorted(found))

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
