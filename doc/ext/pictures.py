# SPDX-License-Identifier: Apache-2.0

"""The directive ``picture``: something drawn from figures or by running the code."""

from __future__ import annotations

from collections.abc import Callable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from doc.ext import charts
from doc.ext import free_hosts
from doc.ext import sheet
from doc.ext import svg
from doc.ext import timeline
from doc.ext import waits

PICTURES: dict[str, Callable[[], charts.Picture]] = {
    'free-hosts': free_hosts.free_hosts,
    'hosts': charts.hosts,
    'lateness': charts.lateness,
    'creates': lambda: charts.bars('Create of a lease, 1,000 hosts', '1,000 hosts: create '),
    'timeline': timeline.timeline,
    'waits': waits.waits,
}


class PictureDirective(SphinxDirective):
    """``.. picture:: NAME``, one of :data:`PICTURES`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the picture."""
        draw = PICTURES.get(self.arguments[0])
        if draw is None:
            raise self.error(f'there is no picture {self.arguments[0]}: {", ".join(PICTURES)}')
        for module in (charts, free_hosts, sheet, svg, timeline, waits):
            self.env.note_dependency(str(module.__file__))
        for record in charts.DATA.glob('*.json'):
            self.env.note_dependency(str(record))
        found = draw()
        text = svg.scrollable(
            found.sheet.root, found.title, found.description, classes='drawing picture'
        )
        return [nodes.raw('', text, format='html')]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive('picture', PictureDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
