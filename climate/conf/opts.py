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

"""Lists every option of Climate for the sample and the documentation."""

from __future__ import annotations

from typing import Any

from climate import conf


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return ``(group, options)`` pairs, as oslo.config's generator expects them."""
    groups: dict[str, list[Any]] = {}
    for module in conf.modules():
        for group, options in module.list_opts().items():
            groups.setdefault(group, []).extend(options)
    return sorted(groups.items(), key=lambda pair: (pair[0] != 'DEFAULT', pair[0]))
