# SPDX-License-Identifier: Apache-2.0

"""The directive ``layers``: the units by level, as the architecture test knows them."""

from __future__ import annotations

import ast
import itertools
import pathlib
import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from tests import architecture

_ROLE = re.compile(r':\w+:`~?([^`]+)`')


def purpose(unit: str) -> str:
    """Return the first sentence of the docstring of a unit of ``climate``."""
    folder = architecture.ROOT / 'climate'
    path = folder / unit / '__init__.py'
    path = path if path.exists() else folder / f'{unit}.py'
    text = ast.get_docstring(ast.parse(path.read_text(encoding='utf-8'))) or ''
    first = text.partition('\n\n')[0].replace('\n', ' ')
    # Modules have no pages that a reference could lead to.
    return _ROLE.sub(r'``\1``', first)


def rst_table() -> str:
    """Return a ``list-table`` with a row per unit, the highest level first."""
    lines = ['.. list-table::', '   :header-rows: 1', '']
    lines += ['   * - Level', '     - Unit', '     - Purpose']
    order = sorted(architecture.LEVELS, key=lambda unit: (-architecture.LEVELS[unit], unit))
    for level, units in itertools.groupby(order, key=architecture.LEVELS.__getitem__):
        for number, unit in enumerate(units):
            lines += [f'   * - {"" if number else level}', f'     - ``{unit}``']
            lines.append(f'     - {purpose(unit)}')
    return '\n'.join([*lines, ''])


class LayersDirective(SphinxDirective):
    """``.. layers::``."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_dependency(str(pathlib.Path(architecture.__file__)))
        return self.parse_text_to_nodes(rst_table())


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive('layers', LayersDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
