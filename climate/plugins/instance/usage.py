# SPDX-License-Identifier: Apache-2.0

"""How a person uses a reservation of instances."""

from __future__ import annotations

from collections.abc import Sequence

from climate.domain.leases import Reservation
from climate.plugins import contract
from climate.plugins import instructions
from climate.plugins.instance.facts import InstanceFacts


def of(reservation: Reservation) -> Sequence[contract.Instruction]:
    """Return how to create a server in a slot: with the flavor of the reservation."""
    words = ['--flavor', reservation.id]
    group_id = InstanceFacts.of(reservation).server_group_id
    if group_id is not None:
        words += ['--hint', f'group={group_id}']
    return [
        contract.Instruction(
            name='create_server',
            title='Create a server in the reserved room',
            command=instructions.create_server(*words),
        )
    ]
