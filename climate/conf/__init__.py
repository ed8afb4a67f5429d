# SPDX-License-Identifier: Apache-2.0

"""Configuration options, one module per group.

The options of a resource type are in the folder of the type, in ``options.py``. Each of
these modules defines its ``OPTS``, and the ``GROUP`` that they are in unless it is
DEFAULT. If its options take more than that, it defines ``register_opts(conf)`` and
``list_opts()`` instead.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from types import ModuleType
from typing import Final

from oslo_config import cfg

from climate import imports

_NOT_A_GROUP: Final = frozenset({'opts', 'removed', 'settings'})
_TYPES: Final = 'climate.plugins'
_OF_A_TYPE: Final = 'options'

imports.load_middleware()


def modules() -> list[ModuleType]:
    """Return the modules that define options: those of this package, then those of types."""
    names = sorted(
        f'{__name__}.{info.name}'
        for info in pkgutil.iter_modules(__path__)
        if info.name not in _NOT_A_GROUP
    )
    return [importlib.import_module(name) for name in (*names, *_of_types())]


def _of_types() -> list[str]:
    """Return the names of the option modules of types, which import no other of Climate."""
    folders = importlib.import_module(_TYPES).__path__
    names = [f'{_TYPES}.{info.name}' for info in pkgutil.iter_modules(folders) if info.ispkg]
    paths = (f'{name}.{_OF_A_TYPE}' for name in sorted(names))
    return [name for name in paths if importlib.util.find_spec(name) is not None]


def register_opts(conf: cfg.ConfigOpts, *only: ModuleType) -> None:
    """Register options of Climate on *conf*.

    :param only: the modules with these options; those of all modules if there are none
    """
    for module in only or modules():
        if hasattr(module, 'register_opts'):
            module.register_opts(conf)
        else:
            conf.register_opts(module.OPTS, group=getattr(module, 'GROUP', None))


def list_opts(module: ModuleType) -> dict[str, list[cfg.Opt]]:
    """Return the options of a module by group."""
    if hasattr(module, 'list_opts'):
        return dict(module.list_opts())
    return {getattr(module, 'GROUP', 'DEFAULT'): module.OPTS}
