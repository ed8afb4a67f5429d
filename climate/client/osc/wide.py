# SPDX-License-Identifier: Apache-2.0

"""The format ``wide``: a table with everything in full, in a terminal of any width."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Any
from typing import TextIO

import prettytable
from cliff.formatters import table


class WideFormatter(table.TableFormatter):
    """A table that is as wide as what it shows."""

    def add_argument_group(self, parser: argparse.ArgumentParser) -> None:
        """Add nothing: the options of ``table`` do not apply."""

    def emit_list(
        self,
        column_names: Sequence[str],
        data: Iterable[Sequence[Any]],
        stdout: TextIO,
        parsed_args: argparse.Namespace,
    ) -> None:
        """Write the rows."""
        self._emit(column_names, data, stdout)

    def emit_one(
        self,
        column_names: Sequence[str],
        data: Sequence[Any],
        stdout: TextIO,
        parsed_args: argparse.Namespace,
    ) -> None:
        """Write an object, a line for each field."""
        self._emit(('Field', 'Value'), zip(column_names, data, strict=True), stdout)

    def _emit(self, names: Sequence[str], rows: Iterable[Sequence[Any]], stdout: TextIO) -> None:
        grid = prettytable.PrettyTable(names)
        grid.align = 'l'
        self.add_rows(grid, names, rows)
        stdout.write(f'{grid.get_string()}\n')
