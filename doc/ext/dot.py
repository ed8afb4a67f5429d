# SPDX-License-Identifier: Apache-2.0

"""Life cycles as text: Graphviz's language, a reStructuredText table, sentences.

Everything is written from the tables of :mod:`climate.domain.lifecycles`.
"""

from __future__ import annotations

import enum
import json
from typing import TypeVar

from climate.domain.lifecycles import LifeCycle

S = TypeVar('S', bound=enum.StrEnum)
T = TypeVar('T', bound=enum.StrEnum)

# Colours come from the style sheet of the page, by the classes.
_DEFAULTS = (
    'rankdir=TB; bgcolor=transparent; ranksep=0.4; nodesep=0.1;',
    'node [shape=box, style="rounded,filled", fillcolor=white, margin="0.1,0.07",'
    ' fontname="Helvetica-Bold", fontsize=14];',
    'edge [arrowsize=0.7, fontname="Helvetica,Arial,sans-serif", fontsize=12];',
)


def arrows(lifecycle: LifeCycle[S, T]) -> dict[tuple[S, S], tuple[T, ...]]:
    """Return the triggers that lead from one state to another, by that pair."""
    found: dict[tuple[S, S], tuple[T, ...]] = {}
    for (old, trigger), new in lifecycle.table.items():
        found[old, new] = (*found.get((old, new), ()), trigger)
    return found


def dot(lifecycle: LifeCycle[S, T]) -> str:
    """Return *lifecycle* in Graphviz's language.

    A state that no arrow leaves has a double border and the class ``final``. An
    arrow has its first trigger as class.
    """
    pairs = arrows(lifecycle)
    lines = [f'digraph {_quoted(lifecycle.name)} {{', *(f'  {line}' for line in _DEFAULTS)]
    lines += ['  "" [shape=point, class="begin"];']
    lines += [f'  "" -> {_quoted(state)};' for state in lifecycle.beginnings]
    for state in type(lifecycle.beginnings[0]):
        final = not any(old is state and new is not state for old, new in pairs)
        attributes = ' [peripheries=2, class="final"]' if final else ''
        lines.append(f'  {_quoted(state)}{attributes};')
    for (old, new), triggers in pairs.items():
        # The spaces keep the text off the line.
        label = '  ' + ', '.join(triggers)
        attributes = f'label={_quoted(label)}, class={_quoted(triggers[0])}'
        lines.append(f'  {_quoted(old)} -> {_quoted(new)} [{attributes}];')
    return '\n'.join([*lines, '}', ''])


def description(lifecycle: LifeCycle[S, T]) -> str:
    """Return *lifecycle* as sentences, for readers who do not see the drawing."""
    sentences = [f'It begins as {" or ".join(lifecycle.beginnings)}.']
    for (old, new), triggers in arrows(lifecycle).items():
        sentences.append(f'{old} becomes {new} on {" or ".join(triggers)}.')
    return ' '.join(sentences)


def rst_table(lifecycle: LifeCycle[S, T]) -> str:
    """Return *lifecycle* as a ``list-table``: a row per transition."""
    order = tuple(type(lifecycle.beginnings[0]))
    rows = sorted(lifecycle.table.items(), key=lambda row: order.index(row[0][0]))
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for cells in (
        ('State', 'Trigger', 'New state'),
        *((f'``{old}``', trigger.value, f'``{new}``') for (old, trigger), new in rows),
    ):
        lines += [f'   {"*" if not n else " "} - {cell}' for n, cell in enumerate(cells)]
    return '\n'.join([*lines, ''])


def _quoted(text: str) -> str:
    return json.dumps(str(text), ensure_ascii=False)
