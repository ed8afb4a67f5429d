# SPDX-License-Identifier: Apache-2.0

"""Has plugins read stored reservations, and copes with those that they cannot read.

A plugin that cannot read a reservation, such as a new release of it, must not keep
the lease from being shown, reported and ended.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar
from typing import Final
from typing import Protocol

from climate import exceptions
from climate.domain.holdings import HeldResource
from climate.domain.holdings import Holding
from climate.domain.leases import Reservation
from climate.domain.lifecycles import ReservationStatus
from climate.plugins import instructions as plugin_instructions
from climate.plugins.contract import Plugin
from climate.plugins.instructions import Instruction
from climate.plugins.searches import Search

LOG = logging.getLogger(__name__)

_USABLE: Final = frozenset({ReservationStatus.PENDING, ReservationStatus.ACTIVE})

FAULT: Final = 'fault'
"""Key of the reason why a plugin cannot read a reservation, for users."""


class Describer(Protocol):
    """The part of a plugin that describes reservations.

    :cvar describes_request: whether the description depends on the request alone
    """

    describes_request: ClassVar[bool]

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation that only its resource type has."""

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[Instruction]:
        """Return what a person does with a reservation."""

    def load(self, stored: Mapping[str, Any]) -> Any:
        """Return a request as it was stored."""

    def search(self, request: Any) -> Search:
        """Describe the resources that the request can use."""


def describe(plugin: Describer, reservation: Reservation) -> dict[str, Any]:
    """Return the type-specific keys of a reservation; only the fault if it has one."""
    try:
        return plugin.describe(reservation)
    except Exception as error:
        return {FAULT: _fault(reservation, error)}


def instructions(
    plugin: Describer, reservation: Reservation, held: Holding
) -> Sequence[Instruction]:
    """Return what a person does with a reservation.

    An active one may have what is in no allocation: a server or a stack that its owner had
    before, or volumes without guarantee. Nothing is done with one that is over or has failed,
    that its plugin cannot read, or that is part of another one, whose instructions are to be
    followed.

    :param held: what it holds, as far as that is shown
    """
    if reservation.status not in _USABLE or reservation.part_of is not None:
        return ()
    if not held.number and reservation.status is not ReservationStatus.ACTIVE:
        return ()
    try:
        given = plugin.instructions(reservation, held.resources)
        return [one for one in given if _is_sound(reservation, one)]
    except Exception as error:
        _fault(reservation, error)
        return ()


def _is_sound(reservation: Reservation, one: Instruction) -> bool:
    """Whether people may copy an instruction into a shell; logs if not.

    It can have names and values from other services, in which a line end would run a command.
    """
    if not plugin_instructions.fault(one):
        return True
    LOG.error(
        'Reservation %s of lease %s: the instruction %s of the plugin of %s is not well-formed',
        reservation.id,
        reservation.lease_id,
        one.name,
        reservation.resource_type,
    )
    return False


def demand(plugin: Describer, reservation: Reservation) -> Mapping[str, int]:
    """Return the units of one slot; empty for whole resources, and if it cannot be read."""
    try:
        return plugin.search(plugin.load(reservation.request)).demand
    except Exception as error:
        _fault(reservation, error)
        return {}


def least(plugin: Describer, reservation: Reservation) -> int:
    """Return how many slots a reservation requires at least; 0 if it cannot be read."""
    try:
        search = plugin.search(plugin.load(reservation.request))
    except Exception as error:
        _fault(reservation, error)
        return 0
    return max(search.minimum, len(search.names))


def load(plugin: Plugin[Any], reservation: Reservation) -> Any:
    """Return the request of a reservation.

    :raises climate.exceptions.Conflict: if its plugin cannot read it
    """
    try:
        return plugin.load(reservation.request)
    except Exception as error:
        raise exceptions.Conflict(
            f'Reservation {reservation.id}: {_fault(reservation, error)}'
        ) from error


def leaves(plugin: Plugin[Any], reservation: Reservation) -> bool:
    """Whether a reservation may have something in the cloud before any effect ran."""
    try:
        return plugin.leaves(reservation)
    except Exception as error:
        _fault(reservation, error)
        return True


def _fault(reservation: Reservation, error: Exception) -> str:
    LOG.error(
        'Reservation %s of lease %s cannot be read by the plugin of %s: %r',
        reservation.id,
        reservation.lease_id,
        reservation.resource_type,
        error,
    )
    return f'the plugin of {reservation.resource_type} cannot read it ({type(error).__name__})'
