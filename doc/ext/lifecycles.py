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

Both are made from ``climate.domain.lifecycles`` when the documents are built,
so they cannot tell another story than the code.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from climate.domain import drawing
from climate.domain import lifecycles


class LifeCycleDirective(SphinxDirective):
    """``.. life-cycle:: NAME``, a name in ``climate.domain.lifecycles``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the picture and the table."""
        machine = getattr(lifecycles, self.arguments[0], None)
        if not isinstance(machine, lifecycles.LifeCycle):
            raise self.error(f'no life cycle is called {self.arguments[0]}')
        self.env.note_dependency(lifecycles.__file__)
        picture = nodes.raw('', drawing.svg(machine), format='html')
        return [picture, *self.parse_text_to_nodes(drawing.rst_table(machine))]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive('life-cycle', LifeCycleDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
