# SPDX-License-Identifier: Apache-2.0

"""Flavors, over python-novaclient.

Requests use microversion 2.61, the first one that returns flavors with their extra
specs.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Flavor
from climate.cloud.errors import Errors
from climate.cloud.nova import pages
from climate.cloud.nova.verbs import ClientFactory
from climate.cloud.nova.verbs import NovaVerbs

MICROVERSION = '2.61'

# The ids that Nova allows. In a URL, dots alone would lead to another resource.
_ID = re.compile('[A-Za-z0-9. _-]+')
_DOTS = frozenset({'.', '..'})


class NovaFlavors(NovaVerbs):
    """Implements :class:`climate.cloud.protocols.flavors.Flavors`."""

    def __init__(self, clients: ClientFactory, errors: Errors) -> None:
        super().__init__(clients, errors)
        self._with_specs = clients.client(MICROVERSION)
        self._with_specs_once = clients.once(MICROVERSION)

    def list_flavors(self) -> tuple[Flavor, ...]:
        """Return every flavor, by id."""
        with self._errors.translated('list_flavors'):
            flavors = [_flavor(item.to_dict()) for item in pages.every(self._page)]
        return tuple(sorted(flavors, key=lambda flavor: flavor.id))

    def _page(self, marker: str | None) -> Sequence[Any]:
        # With None, Nova returns public and private flavors.
        return self._with_specs.flavors.list(is_public=None, marker=marker, sort_key='flavorid')

    def find_flavor(self, flavor_id: str) -> Flavor | None:
        """Return the flavor of exactly this id; None if it does not exist."""
        if not _ID.fullmatch(flavor_id) or flavor_id in _DOTS:
            return None
        with contextlib.suppress(CloudNotFound), self._errors.translated('find_flavor'):
            flavor = _flavor(self._with_specs.flavors.get(flavor_id).to_dict())
            # A case-insensitive database also returns others.
            return flavor if flavor.id == flavor_id else None
        return None

    def create_flavor(self, flavor: Flavor) -> None:
        """Create a flavor as described, its extra specs included."""
        with self._errors.translated('create_flavor'):
            self._with_specs_once.flavors.create(
                flavor.name,
                ram=flavor.memory_mb,
                vcpus=flavor.vcpus,
                disk=flavor.disk_gb,
                flavorid=flavor.id,
                ephemeral=flavor.ephemeral_gb,
                swap=flavor.swap_mb,
                is_public=flavor.public,
            )
        if flavor.extra_specs:
            self.set_extra_specs(flavor.id, flavor.extra_specs)

    def delete_flavor(self, flavor_id: str) -> None:
        """Delete a flavor; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('delete_flavor'):
            self._nova.flavors.delete(flavor_id)

    def set_extra_specs(self, flavor_id: str, specs: Mapping[str, str | None]) -> None:
        """Set extra specs; None removes a key."""
        with self._errors.translated('set_extra_specs'):
            flavor = self._with_specs.flavors.get(flavor_id)
            wanted = {key: value for key, value in specs.items() if value is not None}
            if wanted:
                flavor.set_keys(wanted)
        for key in sorted(specs.keys() - wanted.keys()):
            # Nova refuses to remove a key that does not exist.
            with contextlib.suppress(CloudNotFound), self._errors.translated('set_extra_specs'):
                flavor.unset_keys([key])

    def list_flavor_access(self, flavor_id: str) -> frozenset[str]:
        """Return the ids of the projects that may use a private flavor."""
        with self._errors.translated('list_flavor_access'):
            accesses = self._nova.flavor_access.list(flavor=flavor_id)
            return frozenset(item.tenant_id for item in accesses)

    def add_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Grant a project access to a private flavor; a no-op if it already has access."""
        try:
            with self._errors.translated('add_flavor_access'):
                self._nova.flavor_access.add_tenant_access(flavor_id, project_id)
        except CloudConflict:
            # The project has access already, or the flavor is public.
            if not self._may_use(flavor_id, project_id):
                raise

    def remove_flavor_access(self, flavor_id: str, project_id: str) -> None:
        """Revoke a project's access to a private flavor; a no-op if it has none."""
        try:
            with self._errors.translated('remove_flavor_access'):
                self._nova.flavor_access.remove_tenant_access(flavor_id, project_id)
        except CloudNotFound:
            flavor = self.find_flavor(flavor_id)
            if flavor is None:
                raise
            if flavor.public:
                raise CloudConflict(f'flavor {flavor_id} is public') from None

    def _may_use(self, flavor_id: str, project_id: str) -> bool:
        with contextlib.suppress(CloudNotFound):
            return project_id in self.list_flavor_access(flavor_id)
        return False


def _flavor(item: Mapping[str, Any]) -> Flavor:
    return Flavor(
        id=item['id'],
        name=item['name'],
        vcpus=int(item['vcpus']),
        memory_mb=int(item['ram']),
        disk_gb=int(item['disk']),
        ephemeral_gb=int(item['OS-FLV-EXT-DATA:ephemeral']),
        # Before 2.75, an empty text means no swap.
        swap_mb=int(item['swap'] or 0),
        public=bool(item['os-flavor-access:is_public']),
        extra_specs=dict(item['extra_specs']),
    )
