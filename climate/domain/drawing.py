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

"""Life cycles as text for documents: Graphviz, a reStructuredText table, SVG.

The documentation is drawn from the tables of
:mod:`climate.domain.lifecycles`, so that it cannot tell another story than
the code. Nothing but the standard library is needed, not even Graphviz.
"""

from __future__ import annotations

import enum
import html
import json
from typing import TypeVar

from climate.domain import pictures
from climate.domain.lifecycles import LifeCycle

S = TypeVar('S', bound=enum.StrEnum)
T = TypeVar('T', bound=enum.StrEnum)

Attributes = dict[str, str | float]

# Attributes rather than a style sheet: some that show or embed SVG know none.
_PAPER: Attributes = {'fill': '#ffffff'}
_BOX: Attributes = {'fill': '#f7f9fb', 'stroke_width': 1.75}
_LINE: Attributes = {'fill': 'none', 'stroke_width': 1.5}
_FONT: Attributes = {'font_family': 'Helvetica, Arial, sans-serif', 'text_anchor': 'middle'}
_STATE: Attributes = {'font_size': 14, 'font_weight': 600, 'fill': '#1f2933'}
_TRIGGER: Attributes = {'font_size': 12}


def states(lifecycle: LifeCycle[S, T]) -> tuple[S, ...]:
    """Return all states of *lifecycle*, in the order in which they are declared."""
    return tuple(type(lifecycle.initial))


def arrows(lifecycle: LifeCycle[S, T]) -> dict[tuple[S, S], tuple[T, ...]]:
    """Return the triggers that lead from one state to another, by that pair."""
    found: dict[tuple[S, S], tuple[T, ...]] = {}
    for (old, trigger), new in lifecycle.table.items():
        found[old, new] = (*found.get((old, new), ()), trigger)
    return found


def dot(lifecycle: LifeCycle[S, T]) -> str:
    """Return *lifecycle* in Graphviz's language."""
    quote = json.dumps
    lines = [
        f'digraph {quote(lifecycle.name)} {{',
        '  rankdir=LR;',
        '  node [shape=box, style=rounded];',
        '  "" [shape=point];',
        f'  "" -> {quote(lifecycle.initial.value)};',
        *(f'  {quote(state.value)};' for state in states(lifecycle)),
    ]
    for (old, new), triggers in arrows(lifecycle).items():
        label = ', '.join(trigger.value for trigger in triggers)
        lines.append(f'  {quote(old.value)} -> {quote(new.value)} [label={quote(label)}];')
    return '\n'.join([*lines, '}', ''])


def rst_table(lifecycle: LifeCycle[S, T]) -> str:
    """Return *lifecycle* as a ``list-table``: a row per transition."""
    order = states(lifecycle)
    rows = sorted(lifecycle.table.items(), key=lambda row: order.index(row[0][0]))
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for cells in (
        ('State', 'What happens', 'New state'),
        *((f'``{old}``', trigger.value, f'``{new}``') for (old, trigger), new in rows),
    ):
        lines += [f'   {"*" if not n else " "} - {cell}' for n, cell in enumerate(cells)]
    return '\n'.join([*lines, ''])


def svg(lifecycle: LifeCycle[S, T]) -> str:
    """Return a picture of *lifecycle* as a standalone SVG document.

    States stand in columns by their distance from the initial one, those that
    nothing leads out of in the last column. An arrow has the colour of the
    state that it leaves.
    """
    sentences = [
        f'{old} becomes {new} on {", ".join(triggers)}.'
        for (old, new), triggers in arrows(lifecycle).items()
    ]
    picture = pictures.lay_out(
        lifecycle.initial.value,
        [state.value for state in states(lifecycle)],
        {
            (old.value, new.value): ', '.join(triggers)
            for (old, new), triggers in arrows(lifecycle).items()
        },
    )
    name, width, height = html.escape(lifecycle.name), picture.width, picture.height
    ids = f'{name}-title {name}-desc'
    begins = f'It begins as {lifecycle.initial}.'
    return '\n'.join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="{ids}" '
            f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">',
            f'<title id="{name}-title">Life cycle of the {name}</title>',
            f'<desc id="{name}-desc">{html.escape(" ".join([begins, *sentences]))}</desc>',
            _tag('rect', **_PAPER, width=width, height=height, rx=8),
            *_start(picture),
            *(line for edge in picture.edges for line in _edge(edge)),
            *(line for box in picture.boxes for line in _box(box)),
            *(line for edge in picture.edges for line in _label(edge)),
            '</svg>',
            '',
        ]
    )


def _start(picture: pictures.Picture) -> list[str]:
    """Draw the dot and the arrow that lead to the initial state."""
    box = picture.boxes[0]
    left, y = box.area.left, box.y
    return [
        _tag('circle', cx=left - 34, cy=y, r=5, fill=box.colour),
        _tag('path', **_LINE, stroke=box.colour, d=f'M{left - 29:g} {y:g}H{left - 7:g}'),
        _tag('path', fill=box.colour, d=_head((left, y), (1, 0))),
    ]


def _edge(edge: pictures.Edge) -> list[str]:
    return [
        _tag('path', **_LINE, stroke=edge.colour, d=edge.path),
        _tag('path', fill=edge.colour, d=_head(edge.tip, edge.direction)),
    ]


def _box(box: pictures.Box) -> list[str]:
    place = {'x': box.area.left, 'y': box.area.top}
    size = {'width': pictures.BOX_WIDTH, 'height': pictures.BOX_HEIGHT}
    lines = [_tag('rect', **_BOX, stroke=box.colour, rx=10, **place, **size)]
    if box.final:
        place = {name: value + 4 for name, value in place.items()}
        size = {name: value - 8 for name, value in size.items()}
        lines.append(_tag('rect', **_BOX, stroke=box.colour, rx=7, **place, **size))
    return [*lines, _text(box.name, x=box.x, y=box.y + 5, **_STATE)]


def _label(edge: pictures.Edge) -> list[str]:
    area = edge.label_area
    return [
        _tag(
            'rect', **_PAPER, x=area.left, y=area.top, width=area.right - area.left,
            height=area.bottom - area.top, rx=3, fill_opacity=0.9,
        ),
        _text(edge.label, x=area.x, y=area.y + 4, fill=edge.colour, **_TRIGGER),
    ]  # fmt: skip


def _head(tip: tuple[float, float], direction: tuple[int, int]) -> str:
    """Return the outline of an arrow head that points along an axis."""
    (x, y), (right, down) = tip, direction
    back, side = 8, 4
    one = (x - right * back + down * side, y - down * back + right * side)
    two = (x - right * back - down * side, y - down * back - right * side)
    return f'M{x:g} {y:g}L{one[0]:g} {one[1]:g}L{two[0]:g} {two[1]:g}Z'


def _text(words: str, **attributes: str | float) -> str:
    return f'{_tag("text", **_FONT, **attributes)[:-2]}>{html.escape(words)}</text>'


def _tag(tag: str, **attributes: str | float) -> str:
    written = (
        f'{key.replace("_", "-")}="{value if isinstance(value, str) else f"{value:g}"}"'
        for key, value in attributes.items()
    )
    return f'<{tag} {" ".join(written)}/>'
