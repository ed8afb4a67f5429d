# SPDX-License-Identifier: Apache-2.0

"""RPC between the processes, and notifications for other services."""

from __future__ import annotations

import abc
import importlib
import warnings

from climate import imports

_LIBRARY = 'oslo_messaging'
# Has the threads of its servers, and loads eventlet, too, if it is installed.
_THREADS = 'futurist'


def _load() -> None:
    """Load oslo.messaging, without the launchers of oslo.service, which load eventlet.

    Its servers inherit from one class of them, which defines nothing but abstract methods.
    Climate starts its processes and threads itself, and eventlet, with the DNS library that it
    loads, would be a tenth of a process.
    """
    service = imports.standing_in('oslo_service.service', ServiceBase=abc.ABC)
    try:
        with service, imports.without('eventlet'):
            importlib.import_module(_LIBRARY)
            importlib.import_module(_THREADS)
    except (ImportError, AttributeError):
        # Another release of the libraries may need more.
        importlib.import_module(_LIBRARY)


with warnings.catch_warnings():
    # If eventlet is loaded, it prints a deprecation warning on every terminal.
    warnings.filterwarnings('ignore', message=r'\s*Eventlet is deprecated')
    _load()
