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
