# SPDX-License-Identifier: Apache-2.0

"""The directive ``metrics``: the table of all metrics."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from climate.metrics import catalogue
from doc.ext import metrics_table


class MetricsDirective(SphinxDirective):
    """``.. metrics::``."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        self.env.note_dependency(str(catalogue.__file__))
        return self.parse_text_to_nodes(metrics_table.rst_table())


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive('metrics', MetricsDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
