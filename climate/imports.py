# SPDX-License-Identifier: Apache-2.0

"""Loads libraries without other libraries that Climate does not use.

Some libraries load others only because these are installed. They take time at the start of each
process, and memory as long as it runs.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def without(*names: str) -> Iterator[None]:
    """Make some modules appear to be missing to what is imported meanwhile.

    Those that are loaded already stay. Later imports find them as usual.

    :param names: of optional dependencies of what is imported
    """
    hidden = [name for name in names if name not in sys.modules]
    # What Python finds there for a module that must not be imported.
    nothing: Any = None
    sys.modules.update(dict.fromkeys(hidden, nothing))
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


@contextlib.contextmanager
def standing_in(name: str, **contents: Any) -> Iterator[None]:
    """Let a module consist of a few names for what is imported meanwhile.

    If it is loaded already, it stays. Later imports load it as usual.

    :param contents: what is imported meanwhile uses of it, by name
    """
    if name in sys.modules:
        yield
        return
    module = types.ModuleType(name)
    vars(module).update(contents)
    sys.modules[name] = module
    try:
        yield
    finally:
        sys.modules.pop(name, None)


def load(name: str, *, absent: tuple[str, ...]) -> None:
    """Import a library without some of its optional dependencies."""
    with without(*absent):
        importlib.import_module(name)


def load_middleware() -> None:
    """Import ``oslo_middleware`` before anything else does."""
    # Climate records its traces itself, see climate.tracing.
    load('oslo_middleware', absent=('opentelemetry',))
