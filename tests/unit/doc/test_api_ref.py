# SPDX-License-Identifier: Apache-2.0

"""The API reference needs no theme of its own."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import fixtures
import testtools

from tests import base
from tests import commands
from tests.architecture import ROOT

PAGE = """\
Leases
======

.. rest_expand_all::

List leases
-----------

.. rest_method:: GET /v1/leases

They are listed. See also `Show a lease`_.

Show a lease
------------

.. rest_method:: GET /v1/leases/{lease_id}
"""


@testtools.skipUnless(importlib.util.find_spec('os_api_ref'), 'make api-ref installs os-api-ref')
class ApiRefTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        source = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (source / 'conf.py').write_text(
            f'import sys\nsys.path.insert(0, {str(ROOT)!r})\nextensions = ["doc.ext.api_ref"]\n'
        )
        (source / 'index.rst').write_text(PAGE)
        command = [sys.executable, '-m', 'sphinx', '-q', '-W', source, source / 'html']
        ran = commands.captured(command)
        self.assertEqual((0, ''), (ran.returncode, ran.stderr))
        self.page = (source / 'html' / 'index.html').read_text()

    def test_an_operation_keeps_its_heading(self) -> None:
        self.assertIn('<h2>List leases', self.page)
        self.assertIn('<section id="show-a-lease">', self.page)
        self.assertIn(
            '<span class="method get">GET</span> <code>/v1/leases/<em>{lease_id}</em></code>',
            self.page,
        )

    def test_nothing_is_folded(self) -> None:
        for word in ('collapse', 'expand-all', 'api-site', 'selector'):
            self.assertNotIn(word, self.page)
