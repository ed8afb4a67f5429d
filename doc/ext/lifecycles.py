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

"""The directive ``life-cycle``: a picture and a table of a machine.

Both are made from ``climate.domain.lifecycles``, so they cannot be wrong.
"""

from __future__ import annotations

import html
import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from climate.domain import lifecycles

Point = tuple[float, float]
Edges = Mapping[tuple[str, str], list[str]]

WIDTH, HEIGHT = 860.0, 620.0
BOX_WIDTH, BOX_HEIGHT = 118.0, 30.0
STYLE = (
    'text{font:12px sans-serif;text-anchor:middle;dominant-baseline:central}'
    '.label{font-size:10px;paint-order:stroke;stroke:#fff;stroke-width:3px}'
    'rect{fill:#f3f6fa;stroke:#2a4e68}.initial{stroke-width:3px}'
    'path{fill:none;stroke:#7c8b99}'
)


class LifeCycleDirective(SphinxDirective):
    """``.. life-cycle:: NAME``, a name in ``climate.domain.lifecycles``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        machine = getattr(lifecycles, self.arguments[0], None)
        if not isinstance(machine, lifecycles.LifeCycle):
            raise self.error(f'no life cycle is called {self.arguments[0]}')
        self.env.note_dependency(lifecycles.__file__)
        picture = nodes.raw('', draw(machine), format='html')
        return [picture, *self.parse_text_to_nodes(table(machine))]


def edges_of(machine: lifecycles.LifeCycle[Any, Any]) -> Edges:
    """Return the triggers by (old, new), in the order of the table."""
    edges: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (old, trigger), new in machine.table.items():
        edges[str(old), str(new)].append(str(trigger))
    return edges


def table(machine: lifecycles.LifeCycle[Any, Any]) -> str:
    """Return the table of *machine* as reStructuredText."""
    lines = ['.. list-table::', '   :header-rows: 1', '', '   * - From', '     - Through']
    lines.append('     - To')
    for (old, new), triggers in edges_of(machine).items():
        lines += [f'   * - ``{old}``', f'     - {", ".join(triggers)}', f'     - ``{new}``']
    return '\n'.join(lines)


def places(machine: lifecycles.LifeCycle[Any, Any]) -> dict[str, Point]:
    """Put the states on an ellipse, clockwise, the first one at the top left."""
    names: list[str] = [str(machine.initial)]
    for edge in edges_of(machine):
        names += [name for name in edge if name not in names]
    found = {}
    for number, name in enumerate(dict.fromkeys(names)):
        angle = 2 * math.pi * (number / len(set(names)) - 0.375)
        found[name] = (
            WIDTH / 2 + (WIDTH / 2 - BOX_WIDTH / 2 - 10) * math.cos(angle),
            HEIGHT / 2 + (HEIGHT / 2 - BOX_HEIGHT / 2 - 10) * math.sin(angle),
        )
    return found


def _border(centre: Point, towards: Point) -> Point:
    """Return where the line from *centre* to *towards* leaves its box."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    reach = min(
        BOX_WIDTH / 2 / abs(dx) if dx else math.inf,
        BOX_HEIGHT / 2 / abs(dy) if dy else math.inf,
    )
    return centre[0] + dx * reach, centre[1] + dy * reach


def _arrow(old: Point, new: Point, label: str) -> str:
    """Draw an arrow that bends to its right, so that there and back differ."""
    middle = (old[0] + new[0]) / 2, (old[1] + new[1]) / 2
    bend = middle[0] - (new[1] - old[1]) * 0.14, middle[1] + (new[0] - old[0]) * 0.14
    start, end = _border(old, bend), _border(new, bend)
    x, y = (0.25 * a + 0.5 * b + 0.25 * c for a, b, c in zip(start, bend, end, strict=True))
    return (
        f'<path d="M{start[0]:.1f},{start[1]:.1f} Q{bend[0]:.1f},{bend[1]:.1f} '
        f'{end[0]:.1f},{end[1]:.1f}" marker-end="url(#tip)"/>'
        f'<text class="label" x="{x:.1f}" y="{y:.1f}">{html.escape(label)}</text>'
    )


def draw(machine: lifecycles.LifeCycle[Any, Any]) -> str:
    """Return a picture of *machine* as SVG; what stays where it is is left out."""
    at = places(machine)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH:.0f} '
        f'{HEIGHT:.0f}" style="max-width:{WIDTH:.0f}px"><title>States of a '
        f'{html.escape(machine.name)}</title><style>{STYLE}</style><defs><marker id="tip" '
        'viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" style="fill:#7c8b99"/></marker></defs>'
    ]
    for (old, new), triggers in edges_of(machine).items():
        if old != new:
            parts.append(_arrow(at[old], at[new], ', '.join(triggers)))
    for name, (x, y) in at.items():
        first = ' class="initial"' if name == machine.initial else ''
        parts.append(
            f'<rect{first} x="{x - BOX_WIDTH / 2:.1f}" y="{y - BOX_HEIGHT / 2:.1f}" '
            f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8"/>'
            f'<text x="{x:.1f}" y="{y:.1f}">{html.escape(name)}</text>'
        )
    return ''.join([*parts, '</svg>'])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive('life-cycle', LifeCycleDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
