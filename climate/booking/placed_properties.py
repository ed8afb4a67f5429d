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
"""Checks that the properties exist by which reservations are placed."""

from __future__ import annotations

from collections.abc import Sequence

from climate import exceptions
from climate.booking.requirements import Requirements
from climate.db.store import Transaction


def check(tx: Transaction, needed: Sequence[Requirements]) -> None:
    """Check that the caller can see each property that the conditions of placements name.

    No resource meets a condition on another one, so only searches that find nothing need
    this check. A private property is as unknown as one that no resource has.

    :raises climate.exceptions.InvalidInput: naming one
    """
    for one in needed:
        names = one.placement.properties if one.placement is not None else frozenset()
        if not names:
            continue
        resource_type = one.search.resource_type
        unknown = names - tx.properties.existing(resource_type, names)
        if not one.private:
            unknown |= names & tx.properties.private_names(resource_type)
        if unknown:
            raise exceptions.MalformedParameter(
                f'Malformed parameter placement: no resource of {resource_type} has the property '
                f"'{min(unknown)}'"
            )
