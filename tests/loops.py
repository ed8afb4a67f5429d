# SPDX-License-Identifier: Apache-2.0

"""What the variables of loops were when a test failed, which names the row of a table of cases.

``subTest`` of unittest would do this, but testtools ignores it.
"""

from __future__ import annotations

import ast
import linecache
import pathlib
import reprlib
import traceback
from collections.abc import Iterator
from types import FrameType
from types import TracebackType

_TESTS = pathlib.Path(__file__).parent
_SHOWN = reprlib.Repr()
_SHOWN.maxstring = _SHOWN.maxother = 300


def variables(failure: TracebackType | None) -> list[str]:
    """Return a line for each loop of the tests in which a failure occurred, outermost first.

    A line is the place of the failure, and the variables of the loop with their values.
    """
    return [
        f'{frame.f_code.co_filename}:{line}: {values}'
        for frame, line in traceback.walk_tb(failure)
        if pathlib.Path(frame.f_code.co_filename).is_relative_to(_TESTS)
        for values in _loops(frame, line)
    ]


def _loops(frame: FrameType, line: int) -> Iterator[str]:
    code = frame.f_code
    for node in ast.walk(ast.parse(''.join(linecache.getlines(code.co_filename)))):
        is_around = (
            isinstance(node, ast.For)
            and code.co_firstlineno <= node.lineno
            and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
        )
        if is_around:
            names = [each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)]
            known = (name for name in names if name in frame.f_locals)
            yield ', '.join(f'{name} = {_SHOWN.repr(frame.f_locals[name])}' for name in known)
