# SPDX-License-Identifier: Apache-2.0

"""Shows what os-api-ref reads in any theme: plain headings, and nothing folded away.

os-api-ref moves each operation into a box that Bootstrap and jQuery fold, which only
the theme of OpenStack has. Without the box the search of a browser finds everything.
"""

from __future__ import annotations

import html
import re
from typing import Any

import os_api_ref
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

_ASSETS = ('api-site.css', 'api-site.js')
_PARAMETER = re.compile(r'(\{\w+\})')


class operation(nodes.General, nodes.Element):
    """A line with ``method`` and ``url``, below the heading of its section."""


def unfold(app: Sphinx, doctree: nodes.document) -> None:
    """Replace the operations before os-api-ref moves them."""
    for old in list(doctree.findall(os_api_ref.rest_method)):
        box = old.parent
        section = box.parent
        place = section.index(box)
        section[place] = operation(method=old['method'], url=old['url'])
        # It is a place to fold to.
        if place and isinstance(section[place - 1], nodes.target):
            del section[place - 1]
    for button in list(doctree.findall(os_api_ref.rest_expand_all)):
        button.parent.remove(button)


def visit_operation(self: HTML5Translator, node: operation) -> None:
    """Write the method as a badge and mark the parameters of the path."""
    method = html.escape(node['method'])
    url = _PARAMETER.sub(r'<em>\1</em>', html.escape(node['url']))
    self.body.append(
        f'<p class="operation"><span class="method {method.lower()}">{method}</span>'
        f' <code>{url}</code></p>\n'
    )
    raise nodes.SkipNode


def without_assets(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Leave out the scripts and styles that expect jQuery and Bootstrap."""
    for kind in ('css_files', 'script_files'):
        context[kind] = [
            file
            for file in context.get(kind, [])
            if not str(getattr(file, 'filename', file)).endswith(_ASSETS)
        ]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the node and the hooks."""
    app.setup_extension('os_api_ref')
    app.add_node(operation, html=(visit_operation, None))
    app.connect('doctree-read', unfold, priority=100)
    app.connect('html-page-context', without_assets)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
