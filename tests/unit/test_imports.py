# SPDX-License-Identifier: Apache-2.0

"""What processes load when they start, and what only when it is needed."""

from __future__ import annotations

import sys

from climate import imports
from tests import base
from tests import commands

# Loads a module, and prints which of others are loaded then, and how many there are.
_PROGRAM = """
import importlib, sys
for name in sys.argv[1].split(','):
    importlib.import_module(name)
print(*(name for name in sys.argv[2].split(',') if name in sys.modules))
print(len(sys.modules))
"""
# Libraries and parts of Climate that few or no requests use.
_LATER = (
    *('alembic', 'dns', 'eventlet', 'heatclient', 'icalendar', 'jsonschema', 'openstack'),
    *('opentelemetry.sdk', 'ortools', 'pandas', 'prometheus_client', 'pygments'),
    *('rich', 'sushy', 'climate.cloud.real', 'climate.client.osc', 'climate.mail'),
    'climate.simulator',
)
_OF_MANAGERS = ('novaclient', 'climate.manager.service', 'climate.manager.claims.loop')
# Python's own included. There were 2,500 once, and other releases of libraries have others.
_MOST = 2000


def loaded(modules: str, others: tuple[str, ...]) -> tuple[list[str], int]:
    """Return which of *others* a process that loads *modules* has, and how many altogether."""
    names, number = commands.captured(
        [sys.executable, '-W', 'ignore', '-c', _PROGRAM, modules, ','.join(others)],
        check=True,
        timeout=120,
    ).stdout.splitlines()
    return names.split(), int(number)


class StartTest(base.TestCase):
    def test_the_api_loads_what_most_requests_need(self) -> None:
        for module in ('climate.cmd.api', 'climate.wsgi.api'):
            found, number = loaded(module, (*_LATER, *_OF_MANAGERS))
            self.assertEqual([], found, module)
            self.assertLess(number, _MOST, module)

    def test_the_collector_waits_until_the_api_is_loaded(self) -> None:
        program = (
            'import gc, importlib, sys; count = lambda: gc.get_stats()[2]["collections"];'
            ' before = count(); importlib.import_module(sys.argv[1]);'
            ' print(count() - before, gc.isenabled())'
        )
        for module in ('climate.cmd.api', 'climate.wsgi.api'):
            done = commands.captured([sys.executable, '-c', program, module], check=True)
            self.assertEqual('0 True\n', done.stdout, module)

    def test_a_manager_loads_no_cloud_before_it_is_opened(self) -> None:
        # It upgrades no tables, and has no requests to explain.
        # The library for messages loads the other one when its server starts.
        found, _ = loaded('climate.cmd.manager,futurist', _LATER)
        self.assertEqual([], found)

    def test_they_are_found_when_they_are_needed(self) -> None:
        later = 'eventlet,oslo_service.service,opentelemetry.sdk,pygments,pandas'
        found, _ = loaded(f'climate.wsgi.api,{later}', tuple(later.split(',')))
        self.assertEqual(later.split(','), found)

    def test_the_solver_loads_no_tables(self) -> None:
        program = (
            'import sys; from climate.allocation import placement_program as p;'
            ' print(p.cp_sat() is None or p.cp_sat().CpModel().new_int_var(0, 1, "x").name == "x",'
            ' "pandas" in sys.modules)'
        )
        done = commands.captured([sys.executable, '-c', program], check=True)
        self.assertEqual('True False\n', done.stdout)


class ImportsTest(base.TestCase):
    def test_without(self) -> None:
        with imports.without('this', 'sys'):
            self.assertRaises(ImportError, __import__, 'this')
            # What is loaded stays.
            self.assertIsNotNone(sys.modules['sys'])
        self.assertNotIn('this', sys.modules)

    def test_standing_in(self) -> None:
        with imports.standing_in('this', s=1):
            self.assertEqual(1, __import__('this').s)
        self.assertNotIn('this', sys.modules)
        with imports.standing_in('sys', path=1):
            self.assertIsNot(1, __import__('sys').path)
        self.assertIs(sys, sys.modules['sys'])
