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

"""Which slots a reservation can do without.

Pure: nothing here calls the cloud.
"""

from __future__ import annotations

from collections.abc import Mapping


def keep(
    suggested: Mapping[int, int], most: Mapping[int, int], used: Mapping[int, int]
) -> dict[int, int] | None:
    """Return which slots to keep so that no server loses the one that it has.

    As many in all as are suggested, and as suggested where it makes no
    difference.

    :param most: how many can be kept at most, by resource id
    :param used: how many are in use
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
