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

"""Configuration options, one module per group.

The options of a resource type are in the folder of the type, in ``options.py``. Each of
these modules defines ``register_opts(conf)`` and ``list_opts()``; if a module lacks one,
neither the process nor the documentation build starts.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from types import ModuleType
from typing import Final

from oslo_config import cfg

_NOT_A_GROUP: Final = frozenset({'opts', 'settings'})
_TYPES: Final = 'climate.plugins'
_OF_A_TYPE: Final = 'options'


def modules() -> list[ModuleType]:
    """Return the modules that define options: those of this package, then those of types."""
    names = sorted(
        f'{__name__}.{info.name}'
        for info in pkgutil.iter_modules(__path__)
        if info.name not in _NOT_A_GROUP
    )
    found = [importlib.import_module(name) for name in (*names, *_of_types())]
    for module in found:
        for needed in ('register_opts', 'list_opts'):
            if not hasattr(module, needed):
                raise RuntimeError(f'{module.__name__} does not define {needed}()')
    return found


def _of_types() -> list[str]:
    """Return the names of the option modules of types, which import no other of Climate."""
    folders = importlib.import_module(_TYPES).__path__
    names = [f'{_TYPES}.{info.name}' for info in pkgutil.iter_modules(folders) if info.ispkg]
    found = (f'{name}.{_OF_A_TYPE}' for name in sorted(names))
    return [name for name in found if importlib.util.find_spec(name) is not None]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register every option of Climate on *conf*."""
    for module in modules():
        module.register_opts(conf)
