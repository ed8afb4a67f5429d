# SPDX-License-Identifier: Apache-2.0

"""Drawings by Graphviz as part of the page, so that its style sheet colours them.

``sphinx.ext.graphviz`` runs ``dot``; its own output would be an ``<object>``, which
follows neither the theme of the page nor the width of the window.
"""

from __future__ import annotations

import pathlib
import shutil

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.ext import graphviz
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

from doc.ext import svg


class drawing(graphviz.graphviz):
    """A graph: ``code`` is in Graphviz's language; ``title`` and ``description`` are read aloud."""


def visit_html(self: HTML5Translator, node: graphviz.graphviz) -> None:
    """Write a graph as SVG, also one of the directive ``graphviz``.

    :raises GraphvizError: if it has no title: the directive takes it from ``:alt:``
    """
    title = node.get('title') or node.get('alt')
    if not title:
        raise graphviz.GraphvizError(f'a graph of {self.builder.current_docname} needs :alt:')
    _, path = graphviz.render_dot(self, node['code'], node['options'], 'svg')
    if path is None:
        raise graphviz.GraphvizError('dot has drawn nothing')
    drawn = svg.from_dot(pathlib.Path(path).read_text(encoding='utf-8'))
    self.body.append(svg.scrollable(drawn, title, node.get('description', title)))
    raise nodes.SkipNode


def require_dot(app: Sphinx) -> None:
    """Stop at the beginning if there is no ``dot``.

    :raises ExtensionError: with what to install
    """
    command = app.config.graphviz_dot
    if app.builder.format == 'html' and shutil.which(command) is None:
        raise ExtensionError(
            f"The drawings need Graphviz, and there is no command '{command}':"
            ' install the package graphviz'
        )


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the node; all but HTML write it as ``sphinx.ext.graphviz`` does."""
    app.setup_extension('sphinx.ext.graphviz')
    app.add_node(
        drawing,
        html=(visit_html, None),
        latex=(graphviz.latex_visit_graphviz, None),
        texinfo=(graphviz.texinfo_visit_graphviz, None),
        text=(graphviz.text_visit_graphviz, None),
        man=(graphviz.man_visit_graphviz, None),
    )
    app.add_node(graphviz.graphviz, override=True, html=(visit_html, None))
    app.connect('builder-inited', require_dot)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
