# SPDX-License-Identifier: Apache-2.0

"""The bases of the commands; what those write that show something cannot control a terminal."""

from __future__ import annotations

import abc
import argparse
import contextlib
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

from osc_lib.command import command

from climate.client import terminal
from climate.client.osc import options
from climate.client.osc import plugin
from climate.client.osc import tables
from climate.client.sdk.proxy import ReservationProxy


class _EscapedApp:
    """An application whose output is escaped; everything else is that of the application."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.stdout = terminal.EscapedStream(app.stdout)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app, name)


class Command(command.Command):
    """A command with options."""

    app: Any

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser of the options."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        self._add_options(parser)
        return parser

    def _add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""


class _Escaped(Command):
    @contextlib.contextmanager
    def _escaping(self) -> Iterator[None]:
        app, self.app = self.app, _EscapedApp(self.app)
        try:
            yield
        finally:
            self.app = app


class Lister(_Escaped, command.Lister):
    """A command that shows rows.

    :cvar spare: columns that a narrow terminal can do without, the first one first
    :cvar alike: columns that it can do without before, if all rows are alike in them
    """

    spare: ClassVar[Sequence[str]] = ()
    alike: ClassVar[Sequence[str]] = ()

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Any, data: Any) -> int:
        """Write the rows in the format that the user chose."""
        if width := tables.width_for(parsed_args):
            fitted: Any = tables.FittedTable(self.formatter, width, self, options.now())
            self.formatter = fitted
        with self._escaping():
            return int(super().produce_output(parsed_args, column_names, data))


class ShowOne(_Escaped, command.ShowOne):
    """A command that shows one object."""

    def take_action(self, parsed_args: argparse.Namespace) -> Any:
        """Do what the command is for, and return columns and values."""
        columns = self.columns(plugin.client(self.app), parsed_args)
        return tuple(columns), tuple(columns.values())

    @abc.abstractmethod
    def columns(self, proxy: ReservationProxy, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the values of the columns."""

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Any, data: Any) -> int:
        """Write the object in the format that the user chose."""
        with self._escaping():
            return int(super().produce_output(parsed_args, column_names, data))
