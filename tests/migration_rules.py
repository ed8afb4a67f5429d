# SPDX-License-Identifier: Apache-2.0

"""The rules for migrations: every statement can be repeated, and ids say what works on them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Sequence

from tests import architecture
from tests.architecture import Source

_REVISION = re.compile(r'\d{4}(\.\d{4})?')

FOLDER = 'climate/db/migrations/versions/'
# What only returns a connection, and statements on rows, whose authors must see to it
# themselves: tests/exhaustive/test_killed_migrations.py repeats them.
_ALLOWED = {'op.get_bind', 'op.execute'}


def bare_operations(source: Source) -> Iterator[str]:
    """Complain about operations of Alembic that fail when they are repeated."""
    if not source.path.startswith(FOLDER):
        return
    for line, name in architecture.imports(source):
        if name.startswith('alembic.op.'):
            yield f'{source.path}:{line}: use climate.db.migrations.additions'
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = architecture.dotted(node)
            if name.startswith('op.') and name not in _ALLOWED:
                yield (
                    f'{source.path}:{node.lineno}: {name} fails when it is repeated:'
                    ' use climate.db.migrations.additions'
                )


def wrong_revisions(revisions: Sequence[str]) -> Iterator[str]:
    """Complain about ids of revisions that do not say which code works on the tables.

    :param revisions: oldest first, such as ``0031.0029``
    """
    needed = ''
    for place, revision in enumerate(revisions):
        if not _REVISION.fullmatch(revision):
            yield f'{revision}: use four digits, and four more for the oldest code'
        number, _, least = revision.partition('.')
        if any(number <= before for before in revisions[:place]):
            yield f'{revision}: its number is not above those before'
        if least < needed:
            yield f'{revision}: code has to know {needed} since an earlier revision'
        if least > number:
            yield f'{revision}: no code knows {least} yet'
        needed = max(needed, least)
