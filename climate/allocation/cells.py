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

"""The extremes of step functions in many intervals of one width."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy import typing as npt

_Ints = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Cells:
    """The steps of each row in intervals of one width: a cell for each row and interval.

    :ivar shape: the number of rows and of intervals
    :ivar levels: of all steps; the first step of each row is at its first interval
    :ivar first: the place of the first step of each cell that has one
    :ivar filled: these cells, numbered row by row
    :ivar exact: whether that first step is at the very beginning of the cell
    """

    shape: tuple[int, int]
    levels: _Ints
    first: _Ints
    filled: _Ints
    exact: npt.NDArray[np.bool_]

    def extremes(self, extreme: np.ufunc) -> _Ints:
        """Return the lowest or the highest level of each cell."""
        rows, number = self.shape
        found = np.empty((rows, number), dtype=np.int64)
        if not rows or not number:
            return found
        last = np.append(self.first[1:], len(self.levels)) - 1
        until = np.append(self.filled[1:], rows * number)
        # The level at the end of each cell is carried into the next one.
        ends = np.repeat(self.levels[last], until - self.filled).reshape(rows, number)
        found[:, 1:] = ends[:, :-1]
        own = extreme.reduceat(self.levels, self.first)
        flat = found.reshape(-1)
        flat[self.filled] = np.where(self.exact, own, extreme(flat[self.filled], own))
        return found
