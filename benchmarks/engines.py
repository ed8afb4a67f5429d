# SPDX-License-Identifier: Apache-2.0

"""The database engines that a benchmark measures, and the options that choose them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Iterable
from typing import Final

from benchmarks.figures import Figure
from benchmarks.figures import gathered
from benchmarks.figures import show
from tests import services

NAMES: Final = {'sqlite': 'SQLite', 'mysql': 'MariaDB', 'postgresql': 'PostgreSQL'}
"""The name of each engine in the output."""


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the common options of benchmarks of databases."""
    found = argparse.ArgumentParser(description=description)
    found.add_argument(
        '--engine',
        action='append',
        choices=services.DATABASES,
        help='measure on this engine; may be repeated (default: all that respond)',
    )
    found.add_argument('--json', action='store_true', help='print JSON instead of a table')
    return found


def measure(options: argparse.Namespace, *measurements: Callable[[str], Iterable[Figure]]) -> None:
    """Run each measurement on each chosen engine, and print all figures."""
    engines = options.engine or [kind for kind in services.DATABASES if services.answers(kind)]
    figures: list[Figure] = []
    for one in measurements:
        for engine in engines:
            figures += gathered(one(engine))
    show(figures, as_json=options.json)
