# SPDX-License-Identifier: Apache-2.0

"""``.. operations::``: the table of the operations of the API, from its OpenAPI document."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from climate.api.openapi import operations
from doc.ext import operations_table
from tools import openapi


class OperationsDirective(SphinxDirective):
    """``.. operations::``."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_dependency(str(operations.__file__))
        return self.parse_text_to_nodes(operations_table.rst_tables(openapi.document()))


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive('operations', OperationsDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
