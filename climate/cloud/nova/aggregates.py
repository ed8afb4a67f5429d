# SPDX-License-Identifier: Apache-2.0

"""Aggregates, over python-novaclient."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.cloud.base import Aggregate
from climate.cloud.base import AVAILABILITY_ZONE_KEY
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.nova.verbs import NovaVerbs


class NovaAggregates(NovaVerbs):
    """Implements :class:`climate.cloud.protocols.aggregates.Aggregates`."""

    def list_aggregates(self) -> tuple[Aggregate, ...]:
        """Return every aggregate, by id."""
        with self._errors.translated('list_aggregates'):
            aggregates = [_aggregate(item.to_dict()) for item in self._nova.aggregates.list()]
        return tuple(sorted(aggregates, key=lambda aggregate: aggregate.id))

    def find_aggregate(self, name: str) -> Aggregate | None:
        """Return the aggregate of exactly this name; None if it does not exist."""
        # Nova cannot search for aggregates.
        return next(
            (aggregate for aggregate in self.list_aggregates() if aggregate.name == name), None
        )

    def create_aggregate(self, name: str, availability_zone: str | None) -> Aggregate:
        """Create an empty aggregate, and its availability zone unless that is None."""
        with self._errors.translated('create_aggregate'):
            made = self._nova_once.aggregates.create(name, availability_zone)
            return _aggregate(made.to_dict())

    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> None:
        """Set metadata; None removes a key."""
        if AVAILABILITY_ZONE_KEY in metadata:
            raise exceptions.Permanent('the zone of an aggregate is set when it is created')
        present = self._get_aggregate(aggregate_id).metadata
        # Nova refuses to remove a key that does not exist.
        wanted = {
            key: value for key, value in metadata.items() if value is not None or key in present
        }
        if wanted:
            with self._errors.translated('set_aggregate_metadata'):
                self._nova.aggregates.set_metadata(aggregate_id, wanted)

    def add_host(self, aggregate_id: int, host: str) -> None:
        """Add a service host to an aggregate; a no-op if it is already a member."""
        try:
            with self._errors.translated('add_host'):
                self._nova.aggregates.add_host(aggregate_id, host)
        except CloudConflict:
            if host not in self._get_aggregate(aggregate_id).hosts:
                raise

    def remove_host(self, aggregate_id: int, host: str) -> None:
        """Remove a service host from an aggregate; a no-op if it is not a member."""
        try:
            with self._errors.translated('remove_host'):
                self._nova.aggregates.remove_host(aggregate_id, host)
        except CloudNotFound:
            if host in self._get_aggregate(aggregate_id).hosts:
                raise

    def delete_aggregate(self, aggregate_id: int) -> None:
        """Delete an empty aggregate; a no-op if it does not exist."""
        try:
            with self._errors.translated('delete_aggregate'):
                self._nova.aggregates.delete(aggregate_id)
        except CloudNotFound:
            return
        except exceptions.Permanent:
            # If it has hosts, Nova returns a 400 without a reason.
            with contextlib.suppress(CloudNotFound):
                if self._get_aggregate(aggregate_id).hosts:
                    raise CloudConflict(f'aggregate {aggregate_id} still has hosts') from None
                raise

    def _get_aggregate(self, aggregate_id: int) -> Aggregate:
        with self._errors.translated('find_aggregate'):
            return _aggregate(self._nova.aggregates.get(aggregate_id).to_dict())


def _aggregate(item: Mapping[str, Any]) -> Aggregate:
    # The response to a creation has neither hosts nor metadata.
    metadata = dict(item.get('metadata') or {})
    metadata.pop(AVAILABILITY_ZONE_KEY, None)
    return Aggregate(
        id=int(item['id']),
        uuid=item['uuid'],
        name=item['name'],
        availability_zone=item['availability_zone'],
        hosts=tuple(sorted(item.get('hosts') or ())),
        metadata=metadata,
    )
