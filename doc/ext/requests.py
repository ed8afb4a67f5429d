# SPDX-License-Identifier: Apache-2.0

"""A Sphinx directive for the fields of a resource type's reservations.

The table is made from the class of the request when the documentation is built.
"""

from __future__ import annotations

import importlib
import json
import sys

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from climate.plugins import models
from climate.plugins.fields import Fixed

_HEAD = ('Field', 'Type', 'Values', 'Default', 'Can be changed', 'Description')
_CHANGES = {Fixed.NEVER: 'yes', Fixed.RUNNING: 'before the start', Fixed.ALWAYS: 'no'}


class RequestFieldsDirective(SphinxDirective):
    """``.. request-fields:: MODULE.CLASS``, the class of a request."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        module, _, name = self.arguments[0].rpartition('.')
        request = getattr(importlib.import_module(module), name, None)
        if not isinstance(request, type) or not issubclass(request, models.Request):
            raise self.error(f'no request is called {self.arguments[0]}')
        self.env.note_dependency(str(sys.modules[module].__file__))
        self.env.note_dependency(str(models.__file__))
        return list(self.parse_text_to_nodes(table(request)))


def table(request: type[models.Request]) -> str:
    """Return the table as reStructuredText."""
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in (_HEAD, *map(_row, models.of(request).options())):
        lines += [f'   {"*" if not place else " "} - {cell}' for place, cell in enumerate(row)]
    return '\n'.join(lines)


def _row(option: models.Option) -> tuple[str, ...]:
    default = 'required' if option.required else _value(option.default)
    return (
        f'``{option.name}``',
        option.kind or 'see the schema',
        option.bounds,
        default,
        _CHANGES[option.fixed],
        option.about,
    )


def _value(default: object) -> str:
    return '' if default in (None, '', [], {}) else f'``{json.dumps(default)}``'


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive('request-fields', RequestFieldsDirective)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
