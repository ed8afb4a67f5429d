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

"""Resource providers of Placement and what they have."""

from __future__ import annotations

import dataclasses
from typing import Protocol

from climate.domain.resources import Inventory


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Provider:
    """A resource provider of Placement.

    :ivar generation: goes up when its inventories or traits change
    :ivar parent_uuid: provider that it is nested in; None if it is a root
    """

    uuid: str
    name: str
    generation: int
    parent_uuid: str | None


class Providers(Protocol):
    """Verbs about resource providers."""

    def find_provider(self, name: str) -> Provider | None:
        """Return the provider of exactly this name; None if there is none."""
        ...

    def create_provider(self, name: str, parent_uuid: str | None) -> Provider:
        """Make a provider without inventories, nested in another or a root.

        :raises CloudConflict: if there is one of this name (perhaps made by a
            call before, whose answer was lost: see :meth:`find_provider`)
        :raises climate.exceptions.Permanent: if there is no such parent
        """
        ...

    def delete_provider(self, uuid: str) -> None:
        """Remove a provider; fine if it is gone already.

        :raises CloudConflict: if others are nested in it or something is
            allocated from it
        """
        ...

    def inventories(self, uuid: str) -> tuple[Inventory, ...]:
        """Return the inventories of a provider, by resource class.

        :raises CloudNotFound: if there is no such provider
        """
        ...

    def traits(self, uuid: str) -> frozenset[str]:
        """Return the traits of a provider.

        :raises CloudNotFound: if there is no such provider
        """
        ...
