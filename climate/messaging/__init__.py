# SPDX-License-Identifier: Apache-2.0

"""RPC between the processes, and notifications for other services."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Iterator

from climate import imports


@contextlib.contextmanager
def _no_launchers() -> Iterator[None]:
    """Let oslo.messaging load without the launchers of oslo.service, which load eventlet.

    Its servers inherit from one class of them, which defines nothing but abstract methods.
    Climate starts its processes and threads itself, and eventlet, with the DNS library that it
    loads, would be a tenth of a process.
    """
    try:
        base = importlib.import_module('oslo_service.backend.base').ServiceBase
    except (ImportError, AttributeError):
        # Another release of the library.
        yield
        return
    service = imports.standing_in('oslo_service.service', ServiceBase=base)
    with service, imports.without('eventlet'):
        yield


with warnings.catch_warnings(), _no_launchers():
    # With other releases, a dependency of oslo.messaging imports eventlet, which prints a
    # deprecation warning on every terminal.
    warnings.filterwarnings('ignore', message=r'\s*Eventlet is deprecated')
    importlib.import_module('oslo_messaging')
