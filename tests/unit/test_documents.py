# SPDX-License-Identifier: Apache-2.0

"""The documents name what the code has, and nothing else."""

from __future__ import annotations

import argparse
import pathlib
import re
import textwrap
from collections.abc import Iterator

import fixtures
from oslo_config import cfg

from climate.api.routing.routes import OPEN
from climate.cmd import api
from climate.cmd import manage
from climate.cmd import standalone
from climate.cmd import watch
from climate.conf import opts
from climate.conf import planner
from climate.messaging import schemas
from climate.plugins import loading
from climate.simulator import arguments
from tests import routes
from tests.architecture import ROOT
from tests.base import TestCase

DOC = ROOT / 'doc' / 'source'
API_REF = ROOT / 'api-ref' / 'source'


def _text(path: pathlib.Path) -> str:
    return path.read_text(encoding='utf-8')


class TestApiReference(TestCase):
    """The reference of the API."""

    def test_each_route_has_an_entry(self) -> None:
        text = '\n'.join(_text(page) for page in API_REF.glob('*.rst'))
        documented = re.findall(r'^\.\. rest_method:: (\S+ \S+)$', text, re.MULTILINE)
        served = {f'{route.method} /v1{route.path}' for route in routes.ALL}
        served |= {f'GET {path}' for path in OPEN}
        self.assertEqual(served, set(documented))
        self.assertEqual(len(served), len(documented), 'a route has two entries')

    def test_each_controller_has_a_page(self) -> None:
        nouns = {route.noun for route in routes.ALL}
        self.assertLessEqual(nouns, {page.stem for page in API_REF.glob('*.rst')})

    def test_each_parameter_is_used(self) -> None:
        defined = re.findall(r'^(\S+):$', _text(API_REF / 'parameters.yaml'), re.MULTILINE)
        text = '\n'.join(_text(page) for page in API_REF.glob('*.rst'))
        used = set(re.findall(r'^   - \S+: (\S+)$', text, re.MULTILINE))
        self.assertEqual(set(), set(defined) - used)


class TestReferences(TestCase):
    """The references of what operators and subscribers meet."""

    def test_each_option_group_is_explained(self) -> None:
        page = _text(DOC / 'configuration' / 'options.rst')
        explained = re.findall(r'^``\[(\S+)\]``$', page, re.MULTILINE)
        self.assertEqual({group for group, _ in opts.list_opts()}, set(explained))

    def test_each_option_has_a_help_text(self) -> None:
        for group, options in opts.list_opts():
            for option in options:
                self.assertTrue(option.help, f'[{group}] {option.name}')

    def test_each_notification_has_an_entry(self) -> None:
        page = _text(DOC / 'reference' / 'notifications.rst')
        listed = re.findall(r'^   \* - ``([a-z]+\.[a-z_.]+)``$', page, re.MULTILINE)
        self.assertEqual(set(schemas.VERSIONS), set(listed))

    def test_the_entry_points_of_plugins_are_named(self) -> None:
        self.assertIn(loading.NAMESPACE, _text(DOC / 'contributor' / 'plugins.rst'))


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from _parsers(inner)


class TestPlannerRules(TestCase):
    """The page that says how the planner decides."""

    def test_each_option_is_described(self) -> None:
        text = (ROOT / 'doc' / 'source' / 'admin' / 'planner.rst').read_text('utf-8')
        described = re.findall(r'^``(\w+)``$', text, re.MULTILINE)
        self.assertEqual(sorted(one.name for one in planner.OPTS), sorted(described))

    def test_each_rule_names_tests_that_exist(self) -> None:
        text = (ROOT / 'doc' / 'source' / 'admin' / 'planner.rst').read_text('utf-8')
        _, table = text.split(':header-rows: 1', 1)
        table = table.split('\nThe tests are in', 1)[0]
        rules = table.split('\n   * - ')[2:]
        self.assertGreater(len(rules), 10)
        folder = ROOT / 'tests' / 'functional'
        known = {path.name for path in folder.rglob('test_*.py')}
        for path in folder.rglob('test_*.py'):
            known |= set(re.findall(r'def (test_\w+)', path.read_text('utf-8')))
        for rule in rules:
            named = set(re.findall(r'``(test_[\w.]+)``', rule))
            self.assertTrue(named, rule)
            self.assertEqual(set(), named - known, rule)


class TestCommands(TestCase):
    """The pages of the commands."""

    def assert_page_has(self, name: str, parser: argparse.ArgumentParser) -> None:
        """Fail if the page of a command lacks an option or names one too many."""
        there = {
            option
            for inner in _parsers(parser)
            for action in inner._actions
            for option in action.option_strings
            if option.startswith('--') and option != '--help'
        }
        page = _text(DOC / 'cli' / f'{name}.rst')
        self.assertEqual(there, set(re.findall(r'(?<![\w-])--[a-z][a-z-]*', page)), name)

    def test_standalone(self) -> None:
        self.assert_page_has('climate-standalone', standalone._parser())

    def test_simulator(self) -> None:
        # The page prints the help of each subcommand, 80 columns wide.
        self.useFixture(fixtures.EnvironmentVariable('COLUMNS', '80'))
        page = _text(DOC / 'cli' / 'climate-simulator.rst')
        printed = re.findall(r'^\.\. code-block:: text\n\n((?:(?:   .*)?\n)+)', page, re.MULTILINE)
        helps = [inner.format_help() for inner in _parsers(arguments.parser())]
        self.assertEqual(helps, [f'{textwrap.dedent(text).strip()}\n' for text in printed])

    def test_each_argument_of_the_simulator_has_a_help_text(self) -> None:
        for inner in _parsers(arguments.parser()):
            self.assertIn('examples:', inner.format_help())
            for action in inner._actions:
                if not isinstance(action, argparse._SubParsersAction):
                    self.assertTrue(action.help, f'{inner.prog} {action.dest}')

    def test_watch(self) -> None:
        self.assert_page_has('climate-watch', watch.parser())

    def test_manage(self) -> None:
        parser = argparse.ArgumentParser(prog='climate-manage')
        manage._commands(parser.add_subparsers())
        self.assert_page_has('climate-manage', parser)
        page = _text(DOC / 'cli' / 'climate-manage.rst')
        for inner in _parsers(parser):
            words = inner.prog.split()[1:]
            if len(words) == 2:
                self.assertIn(f'climate-manage {" ".join(words)}', page)

    def test_api(self) -> None:
        # Options of the service itself; the common ones are on the index page.
        page = _text(DOC / 'cli' / 'climate-api.rst')

        for option in api._CLI:
            assert isinstance(option, cfg.Opt)
            self.assertIn(f'--{option.name}', page)
