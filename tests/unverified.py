# SPDX-License-Identifier: Apache-2.0

"""Finds code that writes allocations without verification; see ``tests/architecture.py``."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from collections.abc import Iterator
from typing import Any

from tests import architecture
from tests.architecture import Source

# Releases are not verified, and only these functions may contain them. The second name is
# '' for a statement of the module.
GIVES_BACK = {
    ('climate/db/resources/allocations.py', ''),
    ('climate/db/resources/allocations.py', 'release'),
    ('climate/db/resources/allocations.py', 'give_back'),
    ('climate/db/booking/offers.py', '_release'),
    ('climate/db/administration/purge.py', '_remove_some'),
}
BOOKS = 'climate/db/booking/writer.py'
STORE = 'climate/db/transactions/store.py'
_WRITES = re.compile(r'\b(insert\s+into|update|delete\s+from|replace\s+into)\s+allocations\b', re.I)
_VERBS = ('insert', 'update', 'delete')


def unverified_bookings(source: Source) -> Iterator[str]:
    """Complain about allocations that are written without verification.

    Only one module creates and enlarges them. A transaction gives its object only to code
    that has locked the resources, and verifies the bookings before it commits.
    """
    # The simulated cloud has its own tables.
    if '/migrations/' in source.path or source.unit in ('cloud', 'simulator'):
        return
    names = {name for node in ast.walk(source.tree) for name in _bound_to_allocations(node)}
    for function, node in _by_function(source.tree):
        if (source.path, function) in GIVES_BACK:
            continue
        if source.path != BOOKS and _writes_allocations(node, names):
            yield f'{source.path}:{node.lineno}: only {BOOKS} writes allocations'
        if source.path != STORE and _makes(node, 'BookingWriter', 'PendingBookings'):
            yield f'{source.path}:{node.lineno}: only {STORE} gives the right to book'


def _by_function(tree: ast.AST, function: str = '') -> Iterator[tuple[str, Any]]:
    """Yield each expression with the name of its function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            yield function, node
        inner = node.name if isinstance(node, ast.FunctionDef) else function
        yield from _by_function(node, inner)


def _is_allocations(node: ast.expr) -> bool:
    """Whether an expression is the table of allocations, as a constant or by name."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == 'allocations'
    return architecture.dotted(node).rpartition('.')[2] == 'ALLOCATIONS'


def _bound_to_allocations(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom):
        yield from (
            each.asname for each in node.names if each.name == 'ALLOCATIONS' and each.asname
        )
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for name, value in pairs:
            if isinstance(name, ast.Name) and _is_allocations(value):
                yield name.id


def _writes_allocations(node: ast.expr, names: Collection[str]) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _WRITES.search(node.value) is not None
    if not isinstance(node, ast.Call):
        return False
    verb = architecture.dotted(node.func).rpartition('.')[2]
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    about = [*node.args[:1], *([owner] if owner is not None else [])]
    return verb in _VERBS and any(
        _is_allocations(each) or (isinstance(each, ast.Name) and each.id in names) for each in about
    )


def _makes(node: ast.expr, *names: str) -> bool:
    return isinstance(node, ast.Call) and architecture.dotted(node.func).rpartition('.')[2] in names
