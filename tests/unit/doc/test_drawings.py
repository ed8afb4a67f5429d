# SPDX-License-Identifier: Apache-2.0

"""The documentation shows drawings that a page can colour, and needs Graphviz for them."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import fixtures
import testtools

from doc.ext import svg
from tests import base
from tests import commands
from tests.architecture import ROOT

SVG = '{http://www.w3.org/2000/svg}'
DRAWN = """\
<svg width="90pt" height="60pt" viewBox="0 0 90 60" xmlns="http://www.w3.org/2000/svg">
<g id="graph0" class="graph"><title>life</title>
<g id="node1" class="node"><title>A</title><text x="1" y="2">A</text></g>
</g></svg>
"""
CONF = """\
extensions = ['doc.ext.lifecycles']
"""
PAGE = """\
Life
====

.. life-cycle:: LEASE
"""


def shown(title: str = 'Life & death', description: str = 'A becomes B.') -> ElementTree.Element:
    """Return a drawing as it stands on a page."""
    return ElementTree.fromstring(svg.scrollable(svg.from_dot(DRAWN), title, description))


class SvgTest(base.TestCase):
    def test_it_can_be_read_aloud(self) -> None:
        drawing = shown()[0]
        title, description = drawing.find(f'{SVG}title'), drawing.find(f'{SVG}desc')
        assert title is not None and description is not None
        self.assertEqual(('Life & death', 'A becomes B.'), (title.text, description.text))
        named = f'{title.get("id")} {description.get("id")}'
        self.assertEqual(('img', named), (drawing.get('role'), drawing.get('aria-labelledby')))

    def test_it_is_scrolled_by_keys(self) -> None:
        region = shown()
        self.assertEqual('0', region.get('tabindex'))
        self.assertEqual(('region', 'Life & death'), (region.get('role'), region.get('aria-label')))

    def test_names_of_two_drawings_differ(self) -> None:
        one, other = (
            {element.get('id') for element in shown(description=text).iter()} - {None}
            for text in ('A becomes B.', 'B becomes C.')
        )
        self.assertEqual((2, 2, set()), (len(one), len(other), one & other))

    def test_points_become_pixels(self) -> None:
        drawing = shown()[0]
        self.assertEqual(('90', '60'), (drawing.get('width'), drawing.get('height')))
        self.assertEqual('min-width: 63px', drawing.get('style'))


@testtools.skipUnless(importlib.util.find_spec('sphinx'), 'make docs installs Sphinx')
class BuildTest(base.TestCase):
    def build(
        self, path: str, page: str = PAGE
    ) -> tuple[subprocess.CompletedProcess[str], pathlib.Path]:
        """Build a page with a drawing; *path* is where commands are looked for."""
        source = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (source / 'conf.py').write_text(CONF)
        (source / 'index.rst').write_text(page)
        ran = commands.captured(
            [sys.executable, '-m', 'sphinx', '-q', '-W', source, source / 'html'],
            env={**os.environ, 'PATH': path, 'PYTHONPATH': str(ROOT)},
        )
        return ran, source / 'html' / 'index.html'

    def test_without_dot_it_says_what_to_install(self) -> None:
        ran, page = self.build('/nonexistent')
        self.assertNotEqual(0, ran.returncode)
        self.assertIn("no command 'dot': install the package graphviz", ran.stderr)
        self.assertFalse(page.exists())

    @testtools.skipUnless(shutil.which('dot'), 'Graphviz is not installed')
    def test_a_graph_on_a_page_has_a_title(self) -> None:
        graph = 'Graph\n=====\n\n.. graphviz::\n{}\n   digraph g {{ a -> b; }}\n'
        ran, page = self.build(os.environ['PATH'], graph.format('   :alt: From a to b\n'))
        self.assertEqual((0, ''), (ran.returncode, ran.stderr))
        self.assertIn('From a to b</title>', page.read_text())
        ran, _ = self.build(os.environ['PATH'], graph.format(''))
        self.assertIn('a graph of index needs :alt:', ran.stderr)

    @testtools.skipUnless(shutil.which('dot'), 'Graphviz is not installed')
    def test_with_dot_each_state_is_drawn_once(self) -> None:
        ran, page = self.build(os.environ['PATH'])
        self.assertEqual((0, ''), (ran.returncode, ran.stderr))
        drawings = re.findall(r'<svg .*?</svg>', page.read_text(), re.DOTALL)
        self.assertEqual(1, len(drawings))
        texts = [text.text for text in ElementTree.fromstring(drawings[0]).iter(f'{SVG}text')]
        for state in ('PENDING', 'STARTING', 'ACTIVE', 'TERMINATED', 'DELETED', 'ERROR'):
            self.assertEqual(1, texts.count(state), state)
