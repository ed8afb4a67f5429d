# SPDX-License-Identifier: Apache-2.0

"""The rules of the architecture, as functions from a source file to complaints.

``tests/unit/test_architecture.py`` applies each rule to the tree and, to test the rules
themselves, to a small source that breaks it. The parser of Python reads the files; nothing
is imported.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib.metadata
import io
import pathlib
import re
import sys
import tokenize
from collections.abc import Iterable
from collections.abc import Iterator
from typing import TypeGuard

ROOT = pathlib.Path(__file__).resolve().parent.parent

LONGEST_FUNCTION = 40
# Lines of code: not licence, imports, docstrings and comments.
LONGEST_MODULE = 350
# A table is read by looking a row up, so it may be as long as its subject.
TABLES = {'climate/db/migrations/versions/0028_initial_tables.py', 'climate/db/schema/tables.py'}
MOST_MOCKS = 0.1

# A unit imports only itself and units with a smaller number. Only the composition roots
# may import units with the same number (a command serves the WSGI application).
LEVELS = {
    unit: level
    for level, units in (
        (11, ('cmd', 'wsgi', 'testing')),
        (10, ('manager', 'api', 'mail', 'power')),
        (8, ('upkeep',)),
        (7, ('booking',)),
        (6, ('resources', 'feeds')),
        (5, ('leases', 'webhooks')),
        (4, ('enforcement',)),
        (3, ('plugins', 'heat', 'simulator')),
        (2, ('db', 'client', 'cloud', 'messaging')),
        (1, ('allocation', 'policies', 'threads', 'metrics', 'context', 'tracing')),
        (0, ('domain', 'exceptions', 'clock', 'conf', 'web')),
        (-1, ('imports',)),
    )
    for unit in units
}
COMPOSITION = 11

# The units that may import a library. All but the pure units may import any other one.
HOMES = {
    **{key: {'db'} for key in ('sqlalchemy', 'alembic', 'cryptography', 'oslo_db')},
    **{key: {'api'} for key in ('pecan', 'pycadf', 'limits')},
    **{key: {'client'} for key in ('cliff', 'lark', 'osc_lib')},
    'prometheus_client': {'metrics'},
    'opentelemetry': {'tracing'},
    'pydantic': {'plugins'},
    'webob': {'api', 'testing', 'wsgi'},
    'novaclient': {'cloud'},
    'openstack': {'client', 'cloud', 'heat'},
    'keystoneauth1': {'client', 'cloud', 'heat'},
    # Defines options, as the modules of conf do.
    'keystoneauth1.loading': {'cloud', 'conf'},
    'keystonemiddleware': {'api', 'wsgi'},
    'kombu': {'messaging'},
    'oslo_messaging': {'messaging'},
    'oslo_policy': {'policies', 'testing'},
    'oslo_upgradecheck': {'cmd'},
    'ortools': {'allocation'},
    'heat': {'heat'},
    'icalendar': {'feeds'},
    'jinja2': {'mail'},
    'requests': {'client', 'enforcement'},
    'sushy': {'power'},
    'waitress': {'cmd', 'wsgi'},
    **{key: set[str]() for key in ('eventlet', 'gevent', 'unittest', 'mock')},
}

# Libraries of the extras in setup.cfg, which are imported only if they are installed.
OPTIONAL = {'opentelemetry', 'ortools'}

# Units that import only the standard library, and lower units of Climate.
PURE = {'domain', 'allocation', 'exceptions', 'clock'}
GLOBAL_CONF = {'cmd', 'wsgi', 'conf'}
CLOCK = 'climate/clock.py'

LICENCE = '# SPDX-License-Identifier: Apache-2.0\n'

# Required without being imported by name.
NOT_IMPORTED = {'pbr': 'it packages', 'pymysql': 'SQLAlchemy loads it by the URL of the database'}

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_IGNORE = re.compile(
    r'noqa(?P<codes>:\s*[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)?'
    r'|type:\s*ignore(?:\[[^\]]*\])?'
    r'|pragma:\s*no\s?cover'
)
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_WORD = re.compile(r'[A-Za-z]{2,}')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A source file: its path relative to the root of the project, and its text."""

    path: str
    text: str

    @property
    def module(self) -> str:
        """The dotted name of the module."""
        parts = self.path.removesuffix('.py').split('/')
        if parts[-1] == '__init__':
            parts.pop()
        return '.'.join(parts)

    @property
    def unit(self) -> str:
        """The top-level unit of Climate that contains it; '' for climate itself."""
        parts = self.module.split('.')
        return parts[1] if len(parts) > 1 else ''

    @property
    def tree(self) -> ast.Module:
        """The parsed text."""
        return _parsed(self.text)


@functools.cache
def _parsed(text: str) -> ast.Module:
    # Every rule needs the same trees, and parsing takes most of the time.
    return ast.parse(text)


def sources(*tops: str) -> list[Source]:
    """Read every Python file below the folders *tops* of the project."""
    found = []
    for top in tops:
        for path in sorted((ROOT / top).rglob('*.py')):
            name = path.relative_to(ROOT).as_posix()
            found.append(Source(path=name, text=path.read_text(encoding='utf-8')))
    return found


def imports(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the line and dotted name of each import of *source*.

    ``from a import b`` yields ``a.b``, because b may be a module. Imports inside
    functions, only for type checkers, and through importlib count as well.
    """
    package = source.module.split('.')
    if not source.path.endswith('/__init__.py'):
        package.pop()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *filter(None, [node.module])]
            yield from ((node.lineno, '.'.join([*base, alias.name])) for alias in node.names)
        elif isinstance(node, ast.Call) and dotted(node.func).endswith('import_module'):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield node.lineno, argument.value


def dotted(node: ast.expr) -> str:
    """Return the dotted name of an expression such as ``a.b.c``, without unnamed parts."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f'{dotted(node.value)}.{node.attr}'
    return ''


def upward_arrows(source: Source) -> Iterator[str]:
    """Complain about imports that do not point to a lower level."""
    if source.unit and source.unit not in LEVELS:
        yield f'{source.path}: the unit {source.unit} is in no level'
        return
    for line, name in imports(source):
        top, _, rest = name.partition('.')
        target = rest.split('.')[0]
        if top != 'climate' or target in ('', source.unit):
            continue
        # The package itself has no code: all units may import it, and it imports none.
        own = LEVELS[source.unit] if source.unit else -1
        other = LEVELS.get(target)
        if other is None:
            yield f'{source.path}:{line}: {name} is in no level'
        elif other > own or (other == own and own != COMPOSITION):
            yield f'{source.path}:{line}: {source.unit or "climate"} must not import {name}'


def _home(name: str) -> tuple[str, set[str]] | None:
    """Return the longest prefix of *name* in :data:`HOMES`, and its units."""
    parts = name.split('.')
    for length in range(len(parts), 0, -1):
        library = '.'.join(parts[:length])
        if library in HOMES:
            return library, HOMES[library]
    return None


def strayed_libraries(source: Source) -> Iterator[str]:
    """Complain about a library outside the units that may import it."""
    for line, name in imports(source):
        found = _home(name)
        if found and source.unit not in found[1]:
            homes = ', '.join(sorted(found[1])) or 'no unit'
            yield f'{source.path}:{line}: {found[0]} may appear in {homes} only'


def impure_imports(source: Source) -> Iterator[str]:
    """Complain about a pure unit that imports more than the standard library and numpy."""
    if source.unit not in PURE:
        return
    for line, name in imports(source):
        top = name.split('.')[0]
        if top not in ('climate', 'numpy', *OPTIONAL) and top not in sys.stdlib_module_names:
            yield f'{source.path}:{line}: {source.unit} is pure and must not import {top}'


def global_configuration(source: Source) -> Iterator[str]:
    """Complain about ``cfg.CONF`` where configuration has to be an argument."""
    if source.unit in GLOBAL_CONF:
        return
    for line, name in imports(source):
        if name == 'oslo_config.cfg.CONF':
            yield f'{source.path}:{line}: configuration is an argument here'
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr == 'CONF':
            yield f'{source.path}:{node.lineno}: configuration is an argument here'


def _reads_clock(name: str) -> bool:
    owner, _, verb = name.rpartition('.')
    kind = owner.rpartition('.')[2]
    return (
        (kind in ('datetime', 'date') and verb in ('now', 'utcnow', 'today'))
        or (kind == 'time' and verb in ('time', 'time_ns'))
        or (kind == 'timeutils' and verb.startswith(('utcnow', 'now')))
    )


def clock_readers(source: Source) -> Iterator[str]:
    """Complain about code that reads the clock outside clock.py."""
    if source.path == CLOCK:
        return
    for line, name in imports(source):
        if _reads_clock(name):
            yield f'{source.path}:{line}: only clock.py reads the clock'
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and _reads_clock(dotted(node)):
            yield f'{source.path}:{node.lineno}: only clock.py reads the clock'


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a body, from the first to the last statement.

    The docstring does not count, so that there is no reason to shorten it; comments and
    blank lines between statements do.
    """
    body = function.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        body = body[1:]
    if not body:
        return 0
    return (body[-1].end_lineno or body[-1].lineno) - body[0].lineno + 1


def long_functions(source: Source) -> Iterator[str]:
    """Complain about functions of more than 40 lines, docstrings not counted."""
    for node in ast.walk(source.tree):
        if isinstance(node, _FUNCTION) and (lines := _body_lines(node)) > LONGEST_FUNCTION:
            yield f'{source.path}:{node.lineno}: {node.name} has {lines} lines'


def code_lines(source: Source) -> int:
    """Count the lines that are neither blank, comment, docstring nor import."""
    readline = io.StringIO(source.text).readline
    lines: set[int] = set()
    for token in tokenize.generate_tokens(readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) or _is_text(node):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _is_text(node: ast.AST) -> TypeGuard[ast.Expr]:
    """Whether it is a docstring, of a module, class, function or attribute."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def long_modules(source: Source) -> Iterator[str]:
    """Complain about modules of more than 350 lines of code; tables may be longer."""
    if source.path in TABLES:
        return
    lines = code_lines(source)
    if lines > LONGEST_MODULE:
        yield f'{source.path}: {lines} lines of code'


def missing_licence(source: Source) -> Iterator[str]:
    """Complain about a file that does not begin with its licence, or ``#!`` and the licence."""
    text = source.text
    if text.startswith('#!'):
        text = text.partition('\n')[2]
    if not text.startswith(LICENCE):
        yield f'{source.path}: does not begin with the licence'


def bare_ignores(source: Source) -> Iterator[str]:
    """Complain about an ignored finding without a reason of at least two words."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type != tokenize.COMMENT or not _IGNORE.search(token.string):
            continue
        if len(_WORD.findall(_IGNORE.sub(' ', token.string))) < 2:
            yield f'{source.path}:{token.start[0]}: says not why it ignores: {token.string}'


def _uses_mocks(source: Source) -> bool:
    return any(
        name.startswith(('unittest.mock', 'mock')) or 'fixtures.MockPatch' in name
        for _, name in imports(source)
    ) or any(
        isinstance(node, ast.Attribute) and node.attr.startswith('MockPatch')
        for node in ast.walk(source.tree)
    )


def mocked_tests(tests: Iterable[Source]) -> tuple[int, int]:
    """Count the test methods in modules that use mocks, and all test methods."""
    mocked = total = 0
    for source in tests:
        count = sum(
            isinstance(node, _FUNCTION) and node.name.startswith('test_')
            for node in ast.walk(source.tree)
        )
        total += count
        mocked += count if _uses_mocks(source) else 0
    return mocked, total


def _distribution(name: str) -> str:
    return re.sub(r'[-_.]+', '-', name).lower()


def requirements() -> set[str]:
    """Return the distributions in requirements.txt, except those in NOT_IMPORTED."""
    lines = (ROOT / 'requirements.txt').read_text(encoding='utf-8').splitlines()
    names = (re.match(r'[A-Za-z0-9._-]+', line) for line in lines)
    return {_distribution(name.group()) for name in names if name} - NOT_IMPORTED.keys()


def imported_distributions() -> set[str]:
    """Return the distributions that the modules of climate import.

    Those of the units aside, and the optional ones, are in extras of setup.cfg, because the
    service runs without them.
    """
    providers = importlib.metadata.packages_distributions()
    aside = {'client', 'heat', 'testing'}
    serving = (each for each in sources('climate') if each.unit not in aside)
    tops = {name.split('.')[0] for each in serving for _, name in imports(each)}
    tops -= {'climate', *OPTIONAL, *sys.stdlib_module_names}
    return {_distribution(name) for top in tops for name in providers.get(top, [top])}
