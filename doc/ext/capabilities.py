# SPDX-License-Identifier: Apache-2.0

"""The directive ``capabilities``: the table of all requests, commands and methods."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from doc.ext import capabilities_table


class CapabilitiesDirective(SphinxDirective):
    """``.. capabilities::``."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_dependency(str(capabilities_table.__file__))
        return self.parse_text_to_nodes(capabilities_table.rst_table())


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive('capabilities', CapabilitiesDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
