# SPDX-License-Identifier: Apache-2.0

"""The directive ``life-cycle``: a drawing and a table of one life cycle.

Both are made from ``climate.domain.lifecycles`` when the documentation is built.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from climate.domain import lifecycles
from doc.ext import dot
from doc.ext import drawings
from doc.ext import svg


class LifeCycleDirective(SphinxDirective):
    """``.. life-cycle:: NAME``, a name in ``climate.domain.lifecycles``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the drawing and the table."""
        machine = getattr(lifecycles, self.arguments[0], None)
        if not isinstance(machine, lifecycles.LifeCycle):
            raise self.error(f'no life cycle is called {self.arguments[0]}')
        for module in (lifecycles, dot, svg):
            self.env.note_dependency(str(module.__file__))
        picture = drawings.drawing(
            code=dot.dot(machine),
            title=f'Life cycle of the {machine.name}',
            description=dot.description(machine),
            options={'docname': self.env.current_document.docname},
        )
        return [picture, *self.parse_text_to_nodes(dot.rst_table(machine))]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.setup_extension('doc.ext.drawings')
    app.add_directive('life-cycle', LifeCycleDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
