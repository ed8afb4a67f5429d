# SPDX-License-Identifier: Apache-2.0

"""The directive ``rooms``: the rooms of a package by line, as the architecture test knows them."""

from __future__ import annotations

import pathlib
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from doc.ext import layers
from tests import rooms


def rst_table(package: str, caption: str) -> str:
    """Return a ``list-table`` with a row per room of *package*, the highest line first."""
    folder = package.removeprefix('climate.')
    lines = [f'.. list-table:: {caption}', '   :header-rows: 1', '']
    lines += ['   * - Line', '     - Room', '     - What is in it', '     - Imports']
    for level, names in reversed(list(enumerate(rooms.ROOMS[package]))):
        for number, name in enumerate(names):
            lines += [f'   * - {"" if number else level}', f'     - ``{name}``']
            lines.append(f'     - {layers.purpose(f"{folder}/{name}")}')
            lines.append(f'     - {", ".join(sorted(rooms.imported(package, name)))}')
    return '\n'.join([*lines, ''])


class RoomsDirective(SphinxDirective):
    """``.. rooms:: PACKAGE``."""

    required_arguments = 1
    option_spec: ClassVar = {'caption': directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_dependency(str(pathlib.Path(rooms.__file__)))
        return self.parse_text_to_nodes(rst_table(self.arguments[0], self.options['caption']))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive('rooms', RoomsDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
