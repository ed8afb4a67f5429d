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

"""The choice of the slots that a shrinking reservation keeps.

Nothing here calls the cloud.
"""

from __future__ import annotations

from collections.abc import Mapping


def keep(
    suggested: Mapping[int, int], most: Mapping[int, int], used: Mapping[int, int]
) -> dict[int, int] | None:
    """Return the slots to keep so that no server loses its slot.

    Their total is that of *suggested*; where servers leave a choice, the suggestion
    is followed.

    :param most: the largest number that can be kept, by resource id
    :param used: the number in use, by resource id
    :returns: slots by resource id; None if more are in use than can be kept
    """
    busy = {number: used.get(number, 0) for number in most}
    if any(busy[number] > most[number] for number in most):
        return None
    found = {number: max(suggested.get(number, 0), busy[number]) for number in most}
    surplus = sum(found.values()) - sum(suggested.values())
    for number in sorted(found, key=lambda number: (busy[number], -number)):
        spare = min(surplus, found[number] - busy[number])
        found[number] -= spare
        surplus -= spare
    return None if surplus else {number: count for number, count in found.items() if count}
