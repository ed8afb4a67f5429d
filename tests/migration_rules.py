# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The rule of the architecture for migrations: every statement can be repeated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests import architecture
from tests.architecture import Source

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
            yield f'{source.path}:{line}: use climate.db.additions'
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = architecture.dotted(node)
            if name.startswith('op.') and name not in _ALLOWED:
                yield (
                    f'{source.path}:{node.lineno}: {name} fails when it is repeated:'
                    ' use climate.db.additions'
                )
