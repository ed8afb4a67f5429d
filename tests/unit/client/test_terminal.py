# SPDX-License-Identifier: Apache-2.0

"""Texts of others cannot control the terminal of a user or an operator."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import pkgutil
import types
from collections.abc import Iterator
from typing import Any

import requests
from cliff import display

from climate.client import osc
from climate.client import refusals
from climate.client import terminal
from climate.client.osc import commands
from climate.client.osc.columns import NamesColumn
from climate.client.osc.watch import RichScreen
from climate.client.sdk import errors
from climate.cmd import composition
from climate.domain.names import CONTROL
from tests import base

HOSTILE = 'a\x1b]0;owned\x07\x1b[2J\rb\x9b1m\u202ec\u2066d\u2028e'


def classes() -> Iterator[type[Any]]:
    """Yield the classes of all commands."""
    for module in pkgutil.iter_modules(osc.__path__, f'{osc.__name__}.'):
        for _, each in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(each, display.DisplayCommandBase) and each.__module__ == module.name:
                yield each


class TestTerminal(base.TestCase):
    """What is written has no character with an effect but line ends and tabs."""

    def check(self, text: str) -> None:
        self.assertEqual([], CONTROL.findall(text.replace('\n', '').replace('\t', '')))

    def test_text(self) -> None:
        self.assertEqual('Jürgen 日本 \u200d', terminal.shown('Jürgen 日本 \u200d'))
        self.assertEqual('a\n\tb', terminal.shown('a\n\tb'))
        self.assertEqual('\\x1b[2J\\r\\u202e', terminal.shown('\x1b[2J\r\u202e'))
        self.check(terminal.shown(HOSTILE))

    def test_every_command_escapes(self) -> None:
        found = list(classes())
        self.assertGreater(len(found), 30)
        for each in found:
            self.assertTrue(issubclass(each, (commands.Lister, commands.ShowOne)), each)

    def written(self, base_class: Any, form: str, data: Any) -> str:
        """Return what a command writes."""

        class Command(base_class):  # type: ignore[misc]  # not known before
            """Shows what a service might send."""

            def take_action(self, parsed_args: Any) -> Any:
                return data

            def columns(self, proxy: Any, parsed: Any) -> dict[str, Any]:
                return dict(zip(*data, strict=True))

        stream = io.StringIO()
        app = types.SimpleNamespace(stdout=stream, options=None)
        command = Command(app, None)
        command.run(command.get_parser('x').parse_args(['-f', form]))
        self.assertIs(app, command.app)
        return stream.getvalue()

    def test_every_format(self) -> None:
        row = (HOSTILE, NamesColumn([HOSTILE, 'b']), {'k': HOSTILE}, [HOSTILE], None, 1)
        columns = ('name', 'names', 'values', 'list', 'none', 'number')
        for form in ('table', 'value', 'csv', 'json', 'yaml'):
            self.check(self.written(commands.Lister, form, (columns, [row])))
        for form in ('table', 'value', 'shell', 'json', 'yaml'):
            self.check(self.written(commands.ShowOne, form, (columns, row)))

    def test_json_is_for_programs(self) -> None:
        found = json.loads(self.written(commands.ShowOne, 'json', (('name',), (HOSTILE,))))
        self.assertEqual(HOSTILE, found['name'])

    def test_errors(self) -> None:
        response = requests.Response()
        response.status_code = 409
        offer = {
            'id': None,
            'reason': HOSTILE,
            'start_date': '2030-01-01T00:00:00.000000Z',
            'end_date': '2030-01-02T00:00:00.000000Z',
            'reservations': [{'amount': 1, 'resource_type': HOSTILE}],
            'requirements': [{'property': HOSTILE, 'values': [HOSTILE]}],
        }
        body = {'error_message': HOSTILE, 'error_name': 'X', 'alternatives': [offer]}
        response._content = json.dumps(body).encode()
        error = self.assertRaises(errors.RefusedRequest, errors.raise_for, response)
        self.check(str(error))
        self.check(refusals.describe(error))

    def test_lines_of_a_watched_lease(self) -> None:
        stream = io.StringIO()
        with RichScreen(stream) as screen:
            screen.line(HOSTILE)
        self.check(stream.getvalue())

    def test_climate_manage(self) -> None:
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            composition.say(HOSTILE)
        self.check(stream.getvalue())
