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

"""Configuration options, one file per group.

Each module here has ``register_opts(conf)`` and ``list_opts()``; a module
that lacks one stops the process and the documentation build.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from oslo_config import cfg

_NOT_A_GROUP = frozenset({'opts'})


def modules() -> list[ModuleType]:
    """Return the modules of this package that define options, by name."""
    names = sorted(
        info.name for info in pkgutil.iter_modules(__path__) if info.name not in _NOT_A_GROUP
    )
    found = [importlib.import_module(f'{__name__}.{name}') for name in names]
    for module in found:
        for needed in ('register_opts', 'list_opts'):
            if not hasattr(module, needed):
                raise RuntimeError(f'{module.__name__} does not define {needed}()')
    return found


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register every option of Climate on *conf*."""
    for module in modules():
        module.register_opts(conf)
