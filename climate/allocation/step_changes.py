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

"""Changes of the arrays of step functions that are smaller than computing them again."""

from __future__ import annotations

import numpy as np
from numpy import typing as npt

_Ints = npt.NDArray[np.int64]


def raised(keys: _Ints, levels: _Ints, start: int, end: int, amount: int) -> tuple[_Ints, _Ints]:
    """Return the keys and levels of step functions of which one has another level for a time.

    :param keys: see :class:`climate.allocation.steps.StepFunctions`
    :param start: the key from which on it has
    :param end: the key before which it has, of the same row
    :param amount: by how much the level is higher
    """
    if not amount or start >= end:
        return keys, levels
    first, beyond = np.searchsorted(keys, [start, end]).tolist()
    before, last = levels[first - 1], levels[beyond - 1]
    new_keys, new_levels = [keys[:first]], [levels[:first]]
    skipped = first
    if keys[first] != start:
        new_keys.append(np.array([start]))
        new_levels.append(np.array([before + amount]))
    elif levels[first] + amount == before:
        # Nothing changes there any more.
        skipped += 1
    new_keys.append(keys[skipped:beyond])
    new_levels.append(levels[skipped:beyond] + amount)
    if keys[beyond] != end:
        new_keys.append(np.array([end]))
        new_levels.append(np.array([last]))
    elif levels[beyond] == last + amount:
        beyond += 1
    return (
        np.concatenate([*new_keys, keys[beyond:]]),
        np.concatenate([*new_levels, levels[beyond:]]),
    )
