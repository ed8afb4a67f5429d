# SPDX-License-Identifier: Apache-2.0

"""Aggregates: groups of hosts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Aggregate:
    """A group of hosts, possibly with an availability zone.

    :ivar uuid: the id in Placement
    :ivar availability_zone: the zone of its hosts; None if it does not define one
    :ivar hosts: service hosts, in alphabetical order
    :ivar metadata: without the key ``availability_zone``
    """

    id: int
    uuid: str
    name: str
    availability_zone: str | None
    hosts: tuple[str, ...]
    metadata: Mapping[str, str]


class Aggregates(Protocol):
    """Operations on aggregates."""

    def list_aggregates(self) -> tuple[Aggregate, ...]:
        """Return every aggregate, by id."""

    def find_aggregate(self, name: str) -> Aggregate | None:
        """Return the aggregate of exactly this name; None if it does not exist."""

    def create_aggregate(self, name: str, availability_zone: str | None) -> Aggregate:
        """Create an empty aggregate, and its availability zone unless that is None.

        :param name: 1 to 255 printable characters of the Basic Multilingual Plane,
            without spaces at either end
        :param availability_zone: the same, without colons
        :raises climate.exceptions.Permanent: if one of them is invalid
        :raises CloudConflict: if an aggregate with this name exists (possibly created
            by an earlier call whose response was lost: see :meth:`find_aggregate`), or
            one whose name differs only in case
        """

    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> None:
        """Set metadata; None removes a key, and other keys stay as they are.

        :param metadata: keys of 1 to 255 letters (a to z), digits, spaces and
            ``-_:.``; values of at most 255 characters
        :raises CloudNotFound: if there is no such aggregate
        :raises climate.exceptions.Permanent: if a key or value is invalid, or a key is
            ``availability_zone``: the zone is set when the aggregate is created
        """

    def add_host(self, aggregate_id: int, host: str) -> None:
        """Add a service host to an aggregate; a no-op if it is already a member.

        :raises CloudNotFound: if there is no such aggregate or host
        :raises CloudConflict: if the host is in an aggregate with another
            zone, or has servers and would change its zone
        """

    def remove_host(self, aggregate_id: int, host: str) -> None:
        """Remove a service host from an aggregate; a no-op if it is not a member.

        :raises CloudNotFound: if there is no such aggregate
        :raises CloudConflict: if the host has servers and would change its
            zone
        """

    def delete_aggregate(self, aggregate_id: int) -> None:
        """Delete an empty aggregate; a no-op if it does not exist.

        :raises CloudConflict: if it still has hosts
        """
