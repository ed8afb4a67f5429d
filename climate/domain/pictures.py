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

"""Where the boxes and arrows of a small graph go on paper."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence

from climate.domain.paper import Area
from climate.domain.paper import Point
from climate.domain.paper import Route

BOX_WIDTH = 132.0
BOX_HEIGHT = 54.0

_COLUMN = 290.0
_ROW = 138.0
_MARGIN = 60.0
_HEAD = 7.0
_LETTER = 6.6
_LINE = 16.0
# What passes between two rows keeps to the upper one: the loops of the lower
# one and their labels need the rest.
_BELOW = 52.0
_MOST_ORDERS = 5000
# Dark enough to be read on white.
_COLOURS = (
    '#1f5fa8', '#00796b', '#2e7d32', '#8a5a00', '#7b1fa2',
    '#5d4037', '#c2185b', '#37474f', '#b3261e', '#4527a0',
)  # fmt: skip

Pair = tuple[str, str]
Columns = tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """A state on paper; x and y are its centre.

    :ivar final: whether no arrow leads to another box
    """

    name: str
    x: float
    y: float
    column: int
    colour: str
    final: bool

    @property
    def area(self) -> Area:
        """The paper it covers."""
        return Area(x=self.x, y=self.y, width=BOX_WIDTH, height=BOX_HEIGHT)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """An arrow on paper.

    :ivar path: as in the ``d`` of an SVG path
    :ivar tip: where the arrow head points to
    :ivar direction: where it points: one of the four ways along an axis
    """

    path: str
    tip: Point
    direction: tuple[int, int]
    colour: str
    label: str
    label_area: Area


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """Boxes, the initial one first, and the arrows between them."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]


def lay_out(initial: str, names: Sequence[str], labels: Mapping[Pair, str]) -> Picture:
    """Put a graph on paper.

    :param initial: the name of the box to begin with, at the left
    :param names: of all boxes
    :param labels: the text of each arrow, by the two names it leads from and to
    """
    columns = _ordered(_columns(initial, names, labels), labels)
    boxes = _boxes(columns, names, labels)
    routes = _routes(columns, boxes, labels)
    areas = _label_areas(boxes, routes, labels)
    edges = tuple(
        Edge(
            path=route.path,
            tip=_beyond(route.points[-1], route.direction),
            direction=route.direction,
            colour=boxes[pair[0]].colour,
            label=labels[pair],
            label_area=areas[pair],
        )
        for pair, route in routes.items()
    )
    rest = (box for name, box in boxes.items() if name != initial)
    return Picture(
        width=_wide(columns),
        height=max(map(len, columns)) * _ROW + _MARGIN,
        boxes=(boxes[initial], *rest),
        edges=edges,
    )


def _wide(columns: Columns) -> float:
    return (len(columns) - 1) * _COLUMN + BOX_WIDTH + 2 * _MARGIN


# -- which box where


def _columns(initial: str, names: Sequence[str], pairs: Iterable[Pair]) -> Columns:
    """Put each name into the column of its distance, final ones into one of their own."""
    known = tuple(pairs)
    distance = {initial: 0}
    queue = [initial]
    for name in queue:
        for old, new in known:
            if old == name and new not in distance:
                distance[new] = distance[name] + 1
                queue.append(new)
    final = {name for name in names if _is_final(name, known)}
    last = 1 + max((distance.get(name, 0) for name in names if name not in final), default=-1)
    where = {name: last if name in final else distance.get(name, last) for name in names}
    columns = (tuple(n for n in names if where[n] == column) for column in range(last + 1))
    return tuple(column for column in columns if column)


def _is_final(name: str, pairs: Iterable[Pair]) -> bool:
    return not any(old == name and new != name for old, new in pairs)


def _ordered(columns: Columns, pairs: Iterable[Pair]) -> Columns:
    """Order the names of each column so that arrows are short and cross little."""
    if math.prod(math.factorial(len(column)) for column in columns) > _MOST_ORDERS:
        return columns
    known = tuple(pair for pair in pairs if pair[0] != pair[1])
    orders = itertools.product(*(itertools.permutations(column) for column in columns))
    return min(orders, key=lambda order: _cost(order, known))


def _cost(columns: Columns, pairs: Sequence[Pair]) -> float:
    place = {
        name: (column, row - (len(names) - 1) / 2)
        for column, names in enumerate(columns)
        for row, name in enumerate(names)
    }
    lines = [tuple(sorted((place[old], place[new]))) for old, new in pairs]
    cost = 0.0
    for (from_column, from_row), (to_column, to_row) in lines:
        distance = abs(from_row - to_row)
        # In one column an arrow has to go round whatever stands between.
        cost += 3 * (distance - 1) if from_column == to_column else distance / 2
    for one, other in itertools.combinations(lines, 2):
        if one[0][0] == other[0][0] and one[1][0] == other[1][0]:
            cost += (one[0][1] - other[0][1]) * (one[1][1] - other[1][1]) < 0
    return cost


def _boxes(columns: Columns, names: Sequence[str], pairs: Iterable[Pair]) -> dict[str, Box]:
    known = tuple(pairs)
    tallest = max(map(len, columns))
    colours = dict(zip(names, itertools.cycle(_COLOURS), strict=False))
    return {
        name: Box(
            name=name,
            x=_MARGIN + BOX_WIDTH / 2 + column * _COLUMN,
            y=_MARGIN + (row + (tallest - len(members)) / 2) * _ROW + _ROW / 2,
            column=column,
            colour=colours[name],
            final=_is_final(name, known),
        )
        for column, members in enumerate(columns)
        for row, name in enumerate(members)
    }


# -- which way an arrow takes


def _routes(
    columns: Columns, boxes: Mapping[str, Box], labels: Mapping[Pair, str]
) -> dict[Pair, Route]:
    ways = {
        (old, new): _way(columns, boxes, boxes[old], boxes[new])
        for old, new in labels
        if old != new
    }
    ways = _apart(ways)
    ports = _ports(boxes, ways)
    routes = {pair: _loop(boxes[pair[0]]) for pair in labels if pair[0] == pair[1]}
    for pair, way in ways.items():
        routes[pair] = _route(boxes[pair[0]], boxes[pair[1]], ports, way)
    return routes


def _way(columns: Columns, boxes: Mapping[str, Box], old: Box, new: Box) -> tuple[Point, ...]:
    """Return a gap in each column between two boxes through which an arrow may go."""
    step = 1 if new.column > old.column else -1
    way = []
    y = old.y
    for column in range(old.column + step, new.column, step):
        members = [boxes[name] for name in columns[column]]
        gaps = [members[0].y - _ROW + _BELOW, *(box.y + _BELOW for box in members)]
        straight = y + (new.y - y) / (abs(new.column - column) + 1)
        y = min(gaps, key=lambda gap: abs(gap - straight))
        way.append((members[0].x, y))
    return tuple(way) if old.column != new.column else ()


def _apart(ways: Mapping[Pair, tuple[Point, ...]]) -> dict[Pair, tuple[Point, ...]]:
    """Move arrows that go through the same gap a little apart."""
    used: dict[Point, int] = {}
    moved = {}
    for pair, way in ways.items():
        points = []
        for x, y in way:
            count = used[x, y] = used.get((x, y), -1) + 1
            points.append((x, y + 9 * count))
        moved[pair] = tuple(points)
    return moved


Ports = Mapping[tuple[Pair, str], Point]


def _sides(old: Box, new: Box) -> tuple[int, int]:
    """Return the sides at which an arrow leaves and arrives: 1 right, -1 left."""
    if old.column == new.column:
        side = -1 if old.y < new.y else 1
        return side, side
    return (1, -1) if old.column < new.column else (-1, 1)


def _ports(
    boxes: Mapping[str, Box], ways: Mapping[Pair, tuple[Point, ...]]
) -> dict[tuple[Pair, str], Point]:
    """Spread the ends of arrows along the sides of the boxes, so that few cross."""
    ends: dict[tuple[str, int], list[tuple[float, bool, Pair]]] = {}
    for (old, new), way in ways.items():
        out, into = _sides(boxes[old], boxes[new])
        first = way[0][1] if way else boxes[new].y
        last = way[-1][1] if way else boxes[old].y
        if boxes[old].column == boxes[new].column:
            # It turns round at once, so it lies outside of those that go on.
            away = math.copysign(1.0, first - last)
            first, last = first + away, last - away
        # Of an arrow and the one back, each has the side to which it turns late.
        lower = boxes[new].y < boxes[old].y
        ends.setdefault((old, out), []).append((first, lower, (old, new)))
        ends.setdefault((new, into), []).append((last, lower, (old, new)))
    ports = {}
    for (name, side), arrows in ends.items():
        box = boxes[name]
        pitch = min(18.0, (BOX_HEIGHT - 12) / len(arrows))
        for place, (_, _, pair) in enumerate(sorted(arrows)):
            y = box.y + (place - (len(arrows) - 1) / 2) * pitch
            ports[pair, name] = (box.x + side * BOX_WIDTH / 2, y)
    return ports


def _route(old: Box, new: Box, ports: Ports, way: Sequence[Point]) -> Route:
    pair = (old.name, new.name)
    start, tip = ports[pair, old.name], ports[pair, new.name]
    out, into = _sides(old, new)
    end = (tip[0] + into * _HEAD, tip[1])
    if old.column == new.column:
        bulge = out * (46 + 0.16 * abs(old.y - new.y))
        points = (start, (start[0] + bulge, start[1]), (end[0] + bulge, end[1]), end)
        return Route(points=points, direction=(-into, 0))
    stops = [start]
    for x, y in way:
        stops += [(x - out * BOX_WIDTH / 2, y), (x + out * BOX_WIDTH / 2, y)]
    bends = itertools.starmap(_bend, itertools.pairwise([*stops, end]))
    return Route(points=(start, *itertools.chain(*bends)), direction=(-into, 0))


def _bend(start: Point, end: Point) -> tuple[Point, Point, Point]:
    """Return a curve from *start* that is level at both ends.

    It turns a little late, so that an arrow and the one back keep apart.
    """
    across = end[0] - start[0]
    return (start[0] + 0.7 * across, start[1]), (end[0] - 0.4 * across, end[1]), end


def _loop(box: Box) -> Route:
    """Return an arrow from the top of a box back to it."""
    start, end = (box.x + 22, box.area.top), (box.x - 22, box.area.top - _HEAD)
    points = (start, (start[0] + 8, box.area.top - 36), (end[0] - 8, box.area.top - 36), end)
    return Route(points=points, direction=(0, 1))


def _beyond(point: Point, direction: tuple[int, int]) -> Point:
    return point[0] + direction[0] * _HEAD, point[1] + direction[1] * _HEAD


# -- where its label goes


def _label_areas(
    boxes: Mapping[str, Box], routes: Mapping[Pair, Route], labels: Mapping[Pair, str]
) -> dict[Pair, Area]:
    """Put each label on its arrow where it hides least."""
    lines = {pair: route.samples() for pair, route in routes.items()}
    areas: dict[Pair, Area] = {}
    for pair, label in sorted(labels.items(), key=lambda item: item[0][0] != item[0][1]):
        others = [point for other, line in lines.items() if other != pair for point in line]
        taken = [*(box.area for box in boxes.values()), *areas.values()]
        width = len(label) * _LETTER + 6
        if pair[0] == pair[1]:
            box = boxes[pair[0]]
            areas[pair] = Area(x=box.x, y=box.area.top - 36, width=width, height=_LINE)
            continue
        areas[pair] = min(
            _along(lines[pair], width), key=lambda spot: spot[0] + _hides(spot[1], taken, others)
        )[1]
    return areas


def _along(line: Sequence[Point], width: float) -> Iterator[tuple[float, Area]]:
    """Yield places along a line, each with how far from its middle it is."""
    for place in range(len(line) // 10, len(line) - len(line) // 10):
        x, y = line[place]
        yield abs(place / len(line) - 0.5) * 6, Area(x=x, y=y, width=width, height=_LINE)


def _hides(area: Area, taken: Iterable[Area], others: Iterable[Point]) -> float:
    covered = sum(area.meets(other) for other in taken)
    return 100 * covered + sum(area.holds(point) for point in others)
