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

"""The facts that Climate records for a reservation of storage pools."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from climate.domain.facts import fact
from climate.plugins.volume.facts import CopyFacts


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StorageFacts(CopyFacts):
    """The facts of a reservation of storage pools.

    :ivar volume_types: names of the volume types, by pool
    """

    volume_types: Mapping[str, str] = fact(factory=dict)
