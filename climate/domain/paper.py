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

"""Rectangles and curves on paper; y grows downwards, as in SVG."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

Point = tuple[float, float]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Area:
    """A rectangle around a centre."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        """The smallest x."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """The largest x."""
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        """The smallest y."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """The largest y."""
        return self.y + self.height / 2

    def meets(self, other: Area) -> bool:
        """Whether the two share a point."""
        apart_x = abs(self.x - other.x) * 2 > self.width + other.width
        apart_y = abs(self.y - other.y) * 2 > self.height + other.height
        return not (apart_x or apart_y)

    def holds(self, point: Point) -> bool:
        """Whether *point* lies inside."""
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """A line of cubic curves that ends in an arrow head.

    :ivar points: the start, then three points for each curve
    :ivar direction: where the head points: one of the four ways along an axis
    """

    points: tuple[Point, ...]
    direction: tuple[int, int]

    @property
    def path(self) -> str:
        """The line as in the ``d`` of an SVG path."""
        head, *rest = (f'{x:.1f} {y:.1f}' for x, y in self.points)
        return f'M{head}C{" ".join(rest)}'

    def samples(self) -> list[Point]:
        """Return points along the line, close to each other."""
        found = []
        for place in range(0, len(self.points) - 1, 3):
            curve = self.points[place : place + 4]
            found += [_on_curve(curve, step / 24) for step in range(25)]
        return found


def _on_curve(curve: Sequence[Point], t: float) -> Point:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    x, y = (sum(w * p[axis] for w, p in zip(weights, curve, strict=True)) for axis in (0, 1))
    return x, y
