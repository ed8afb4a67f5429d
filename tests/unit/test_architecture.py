# SPDX-License-Identifier: Apache-2.0

"""The gates of the architecture, and a test that each of them shuts."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable

from tests import architecture
from tests import base
from tests import migration_rules
from tests import type_names
from tests.architecture import Source

SERVICE = ('climate',)
PROGRAMS = ('climate', 'tools', 'benchmarks')
EVERYTHING = (*PROGRAMS, 'tests', 'doc', 'api-ref', 'releasenotes')

Rule = Callable[[Source], Iterable[str]]
UPWARD = architecture.upward_arrows
NAMED_TYPES = type_names.named_types
STRAYED = architecture.strayed_libraries
IMPURE = architecture.impure_imports
GLOBALS = architecture.global_configuration
CLOCKS = architecture.clock_readers
LONG_FUNCTIONS = architecture.long_functions
LONG_MODULES = architecture.long_modules
LICENCES = architecture.missing_licence
IGNORES = architecture.bare_ignores
BARE = migration_rules.bare_operations


def source(path: str, text: str) -> Source:
    return Source(path=path, text=text)


class ArchitectureTestCase(base.TestCase):
    """Runs rules over folders, or one over a bad source."""

    def assert_kept(self, *rules: Rule, tops: Iterable[str] = SERVICE) -> None:
        sources = architecture.sources(*tops)
        complaints = [line for each in sources for rule in rules for line in rule(each)]
        if complaints:
            self.fail('\n'.join(['', *complaints]))

    def assert_refused(self, rule: Rule, path: str, *texts: str) -> None:
        for text in texts:
            self.assertEqual(1, len(list(rule(source(path, text)))), text)

    def assert_allowed(self, rule: Rule, path: str, *texts: str) -> None:
        for text in texts:
            self.assertEqual([], list(rule(source(path, text))), text)


class TestTree(ArchitectureTestCase):
    """The project keeps its own rules."""

    def test_each_rule_is_kept(self) -> None:
        self.assert_kept(UPWARD, STRAYED, IMPURE, GLOBALS, CLOCKS, NAMED_TYPES, BARE)
        self.assert_kept(LONG_FUNCTIONS, tops=PROGRAMS)
        self.assert_kept(LONG_MODULES, tops=(*PROGRAMS, 'tests'))
        self.assert_kept(LICENCES, IGNORES, tops=EVERYTHING)

    def test_files_are_found(self) -> None:
        paths = {each.path for each in architecture.sources(*EVERYTHING)}
        self.assertIn('climate/clock.py', paths)
        self.assert_contains(paths, 'climate/domain/leases.py', 'tests/unit/test_architecture.py')

    def test_migrations_can_be_repeated(self) -> None:
        path = 'climate/db/migrations/versions/0099_x.py'
        self.assert_refused(BARE, path, 'op.add_column(t, c)', 'op.batch_alter_table(t)')
        self.assert_allowed(BARE, path, 'op.execute(q)')

    def test_modules_that_may_name_a_type_do(self) -> None:
        for each in architecture.sources(*SERVICE):
            if each.path in type_names.NAMES_TYPES:
                other = source('climate/api/app.py', each.text)
                self.assertNotEqual([], list(NAMED_TYPES(other)), each.path)

    def test_requirements_are_what_is_imported(self) -> None:
        self.assertEqual(set(), architecture.requirements() ^ architecture.imported_distributions())

    def test_mocks_are_rare(self) -> None:
        mocked, total = architecture.mocked_tests(architecture.sources('tests'))
        self.assertGreater(total, 0)
        self.assertLessEqual(mocked, total * architecture.MOST_MOCKS)


class TestLevels(ArchitectureTestCase):
    """Imports that do not point down are found."""

    def test_upward(self) -> None:
        self.assert_refused(
            UPWARD,
            'climate/db/leases/leases.py',
            'from climate.leasing import create',
            'import climate.manager.claims.loop',
            'from climate import plugins',
            'from ...leasing import create',
            'from ... import api',
            'def late():\n    from climate.leasing import create',
            'if TYPE_CHECKING:\n    from climate.leasing import create',
            "importlib.import_module('climate.booking.writing.create')",
        )

    def test_sideways(self) -> None:
        for path, text in (
            ('climate/manager/claims/loop.py', 'from climate.api import app'),
            ('climate/api/app.py', 'from climate.manager.claims import loop'),
            ('climate/db/leases/leases.py', 'from climate.cloud import base'),
            ('climate/domain/leases.py', 'from climate import exceptions'),
            ('climate/allocation/peak.py', 'from climate import policies'),
        ):
            self.assert_refused(UPWARD, path, text)

    def test_unknown_units(self) -> None:
        self.assert_refused(UPWARD, 'climate/common/utils.py', '')
        self.assert_refused(UPWARD, 'climate/api/app.py', 'from climate import common')

    def test_package_imports_nothing(self) -> None:
        self.assert_refused(UPWARD, 'climate/__init__.py', 'from climate import clock')

    def test_downward(self) -> None:
        self.assert_allowed(
            UPWARD,
            'climate/db/leases/leases.py',
            'from climate import exceptions',
            'from climate.db.schema import tables',
            'from . import models',
            'from .models import Lease',
            'from ...domain import leases',
            'from climate.allocation import requirements',
            'import climate',
            'import climatology.api',
        )

    def test_composition_roots_build_on_each_other(self) -> None:
        self.assert_allowed(UPWARD, 'climate/cmd/api.py', 'from climate.wsgi import api')

    def test_relative_import_of_a_package(self) -> None:
        bad = source('climate/api/__init__.py', 'from ..manager import loop')
        self.assertEqual([(1, 'climate.manager.loop')], list(architecture.imports(bad)))


class TestTypes(ArchitectureTestCase):
    """A resource type that is named outside of the plugins is found."""

    def test_named(self) -> None:
        self.assert_refused(
            NAMED_TYPES,
            'climate/manager/claims/loop.py',
            "HOST = 'physical:host'",
            "raise ValueError('no virtual:server here')",
            "f'{a} flavor:instance'",
            'from climate.plugins.host.plugin import PhysicalHost',
            'from climate.plugins import server',
            'def f():\n    from climate.plugins.network import facts',
        )

    def test_not_named(self) -> None:
        self.assert_allowed(
            NAMED_TYPES,
            'climate/manager/claims/loop.py',
            '"""Such as ``physical:host``."""',
            "service = 'network'",
            'from climate.plugins.contract import Plugin',
            'from climate.plugins.custom.plugin import Custom',
        )
        for path in (
            'climate/plugins/host/names.py',
            'climate/simulator/contents.py',
            'climate/db/migrations/versions/0028_initial_tables.py',
        ):
            self.assert_allowed(NAMED_TYPES, path, "HOST = 'physical:host'")


class TestLibraries(ArchitectureTestCase):
    """Libraries out of their folder, or in a pure unit, are found."""

    def test_strayed(self) -> None:
        self.assert_refused(
            STRAYED,
            'climate/booking/writing/create.py',
            'import sqlalchemy as sa',
            'from sqlalchemy import orm',
            'import pecan',
            'from novaclient import client',
            'from openstack import connection',
            'from oslo_db import exception',
            'import oslo_messaging',
            'import eventlet',
            'from unittest import mock',
        )

    def test_at_home(self) -> None:
        self.assert_allowed(STRAYED, 'climate/db/schema/tables.py', 'import sqlalchemy as sa')
        self.assert_allowed(STRAYED, 'climate/api/app.py', 'import pecan', 'import jsonschema')

    def test_options_of_a_library_may_be_read_in_conf(self) -> None:
        self.assert_allowed(STRAYED, 'climate/conf/nova.py', 'from keystoneauth1 import loading')
        self.assert_refused(
            STRAYED,
            'climate/conf/nova.py',
            'from keystoneauth1 import session',
            'import keystoneauth1',
        )

    def test_eventlet_has_no_home(self) -> None:
        for unit in architecture.LEVELS:
            self.assert_refused(STRAYED, f'climate/{unit}/x.py', 'import eventlet')

    def test_impure(self) -> None:
        self.assert_refused(
            IMPURE,
            'climate/domain/leases.py',
            'from oslo_config import cfg',
            'import dateutil.parser',
        )
        self.assert_refused(IMPURE, 'climate/exceptions.py', 'from oslo_i18n import _')

    def test_pure(self) -> None:
        self.assert_allowed(
            IMPURE,
            'climate/allocation/peak.py',
            'import dataclasses',
            'from climate.domain import periods',
        )


class TestGlobals(ArchitectureTestCase):
    """Global configuration and hidden clocks are found."""

    def test_configuration(self) -> None:
        self.assert_refused(
            GLOBALS,
            'climate/manager/claims/loop.py',
            'sleep(cfg.CONF.manager.max_sleep)',
            'from oslo_config.cfg import CONF',
            'conf = oslo_config.cfg.CONF',
        )
        self.assert_allowed(GLOBALS, 'climate/cmd/api.py', 'conf = cfg.CONF')

    def test_clock(self) -> None:
        self.assert_refused(
            CLOCKS,
            'climate/booking/writing/create.py',
            'datetime.datetime.now(datetime.UTC)',
            'datetime.now()',
            'datetime.datetime.utcnow()',
            'datetime.date.today()',
            'time.time()',
            'from time import time',
            'timeutils.utcnow()',
            'field(default_factory=datetime.datetime.now)',
        )
        self.assert_allowed(
            CLOCKS,
            'climate/booking/writing/create.py',
            'clock.now()',
            'time.monotonic()',
            'self.time.isoformat()',
        )
        self.assert_allowed(CLOCKS, 'climate/clock.py', 'datetime.datetime.now(datetime.UTC)')


class TestSizes(ArchitectureTestCase):
    """Long functions and modules are found."""

    def function(self, lines: int, docstring: str = '') -> str:
        return '\n'.join(['def f():', docstring, *['    x = 1'] * lines, ''])

    def test_functions(self) -> None:
        path = 'climate/api/app.py'
        self.assert_allowed(LONG_FUNCTIONS, path, self.function(40))
        self.assert_refused(LONG_FUNCTIONS, path, self.function(41))

    def test_docstring_is_free(self) -> None:
        docstring = '    """' + '\n' * 30 + '    """'
        path = 'climate/api/app.py'
        self.assert_allowed(LONG_FUNCTIONS, path, self.function(40, docstring))
        self.assert_refused(LONG_FUNCTIONS, path, self.function(41, docstring))
        self.assert_allowed(LONG_FUNCTIONS, path, 'def f():\n    """Only words."""')

    def test_modules(self) -> None:
        path = 'climate/api/app.py'
        self.assert_allowed(LONG_MODULES, path, 'x = 1\n' * 350)
        self.assert_refused(LONG_MODULES, path, 'x = 1\n' * 351)
        self.assert_allowed(LONG_MODULES, 'climate/db/schema/tables.py', 'x = 1\n' * 351)

    def test_what_is_no_code(self) -> None:
        text = '''# SPDX

"""Docstring
of a module.
"""

import os
from a import (
    b,
)


class C:
    """Docstring."""

    x: int
    """Of an attribute."""

    def f(self):
        # Comment.
        return """text
        of a value"""
'''
        self.assertEqual(5, architecture.code_lines(source('climate/x.py', text)))


class TestWords(ArchitectureTestCase):
    """A missing licence and a bare ignore are found."""

    def test_licence(self) -> None:
        path = 'climate/api/app.py'
        self.assert_refused(LICENCES, path, '', 'import os\n', '# Licensed\n')
        self.assert_allowed(
            LICENCES, path, architecture.LICENCE, '#!/usr/bin/env python3\n' + architecture.LICENCE
        )

    def test_ignores(self) -> None:
        hash_sign = '#'
        path = 'climate/api/app.py'
        self.assert_refused(
            IGNORES,
            path,
            f'x = 1  {hash_sign} noqa',
            f'x = 1  {hash_sign} noqa: S101',
            f'x = 1  {hash_sign} noqa: S101, E501',
            f'x = 1  {hash_sign} type: ignore[attr-defined]',
            f'x = 1  {hash_sign} type: ignore[misc]  {hash_sign} noqa: E501',
            f'x = 1  {hash_sign} pragma: no cover',
        )
        self.assert_allowed(
            IGNORES,
            path,
            f'x = 1  {hash_sign} noqa: S101 - narrows the type',
            f'x = 1  {hash_sign} type: ignore[misc]  {hash_sign} pecan is untyped',
            f'x = "{hash_sign} noqa"',
        )


class TestMocks(ArchitectureTestCase):
    """Tests in modules that use mocks are counted."""

    def test_counted(self) -> None:
        body = 'class T:\n    def test_a(self): ...\n    def test_b(self): ...\n'
        plain = source('tests/unit/test_plain.py', body)
        for text in (
            'from unittest import mock\n',
            'import unittest.mock\n',
            'from unittest.mock import patch\n',
            'import mock\n',
            'from fixtures import MockPatch\n',
            'fixtures.MockPatchObject\n',
        ):
            bad = source('tests/unit/test_bad.py', text + body)
            self.assertEqual((2, 4), architecture.mocked_tests([plain, bad]), text)
        self.assertEqual((0, 2), architecture.mocked_tests([plain]))
