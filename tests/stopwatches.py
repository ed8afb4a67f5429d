# SPDX-License-Identifier: Apache-2.0

"""Finds tests that fail on a busy machine, because they assert a duration."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture import Source

_CLOCKS = {
    f'{name}{unit}' for name in ('monotonic', 'perf_counter', 'time') for unit in ('', '_ns')
}
_LESS = {'assertLess', 'assertLessEqual'}
_MORE = {'assertGreater', 'assertGreaterEqual'}


def asserted_times(source: Source) -> Iterator[str]:
    """Complain about a measured duration that has to be below a constant.

    Comparing two durations, and asserting a minimum, are allowed, because neither fails
    on a busy machine.
    """
    measured = _measured(source.tree)
    for node in ast.walk(source.tree):
        for small, great in _comparisons(node):
            if _is_measured(small, measured) and not _is_measured(great, measured):
                yield f'{source.path}:{small.lineno}: asserts a time'


def _comparisons(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield pairs of expressions of which an assertion requires the first to be less."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and len(node.args) > 1:
        first, second = node.args[:2]
        if node.func.attr in _LESS:
            yield first, second
        elif node.func.attr in _MORE:
            yield second, first
        elif node.func.attr == 'assertThat':
            for inner in ast.walk(second):
                if isinstance(inner, ast.Call) and _name(inner.func) == 'LessThan' and inner.args:
                    yield first, inner.args[0]
    elif isinstance(node, ast.Call) and _name(node.func) == 'assertTrue' and node.args:
        yield from _compared(node.args[0])
    elif isinstance(node, ast.Assert):
        yield from _compared(node.test)


def _compared(test: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(test):
        if not isinstance(node, ast.Compare):
            continue
        values = [node.left, *node.comparators]
        for left, sign, right in zip(values, node.ops, values[1:], strict=False):
            if isinstance(sign, ast.Lt | ast.LtE):
                yield left, right
            elif isinstance(sign, ast.Gt | ast.GtE):
                yield right, left


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ''


def _measured(tree: ast.Module) -> set[str]:
    """Return the names to which the module assigns a measured duration."""
    return {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_measured(node.value, set())
        for target in node.targets
        if (name := _name(target))
    }


def _is_measured(value: ast.expr, names: set[str]) -> bool:
    """Whether a value contains a difference of clock readings."""
    return any(
        (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _looks(node))
        or (isinstance(node, ast.Name | ast.Attribute) and _name(node) in names)
        for node in ast.walk(value)
    )


def _looks(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.Call) and _name(side.func) in _CLOCKS
        for side in (node.left, node.right)
    )
