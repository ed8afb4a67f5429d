# SPDX-License-Identifier: Apache-2.0

"""The rule that only :mod:`climate.conf` defines the default of an option.

``tests/unit/test_defaults.py`` applies it to the tree, and to small sources that break it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate.conf import opts
from tests import architecture

# The functions that define a field of a class of settings.
_FIELDS = {'option', 'part', 'dataclasses.field'}
# Values that are too common to count as a copy of a default.
_COMMON: tuple[Any, ...] = (None, '', 0, 1, ())


def defaults() -> dict[str, list[Any]]:
    """Return the defaults of all options in all groups, by name."""
    found: dict[str, list[Any]] = {}
    for _, options in opts.list_opts():
        for each in options:
            value = tuple(each.default) if isinstance(each.default, list) else each.default
            found.setdefault(each.dest, []).append(value)
    return found


def repeated(source: architecture.Source, options: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Complain about a default that repeats the default of an option.

    :param options: see :func:`defaults`
    """
    if source.unit == 'conf':
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and _reads_options(node):
            for name, value in _fields(node):
                if not _from_option(value):
                    yield f'{source.path}:{value.lineno}: {node.name}.{name} is no option(...)'
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            pairs = _fields(node) if isinstance(node, ast.ClassDef) else _parameters(node)
            for name, value in pairs:
                if _literal(value) not in _COMMON and _literal(value) in options.get(name, ()):
                    yield f'{source.path}:{value.lineno}: {node.name} repeats the default of {name}'


def _reads_options(node: ast.ClassDef) -> bool:
    bases = {architecture.dotted(base).rpartition('.')[2] for base in node.bases}
    methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    makers = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
    return 'dataclasses.dataclass' in map(architecture.dotted, makers) and (
        'Settings' in bases or 'from_conf' in methods
    )


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and each.value and isinstance(each.target, ast.Name):
            yield each.target.id, each.value


def _parameters(node: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    positional = [*node.args.posonlyargs, *node.args.args]
    last = node.args.defaults
    pairs = zip(positional[len(positional) - len(last) :], last, strict=True)
    for argument, value in [*pairs, *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]:
        if value is not None:
            yield argument.arg, value


def _from_option(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return architecture.dotted(value.func) in _FIELDS and not any(
            keyword.arg == 'default' for keyword in value.keywords
        )
    return isinstance(value, ast.Constant) and value.value is None


def _literal(value: ast.expr) -> Any:
    try:
        found = ast.literal_eval(value)
    except ValueError:
        return None
    return tuple(found) if isinstance(found, list) else found
