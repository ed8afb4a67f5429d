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

"""What a reservation holds: the resources that are allocated to it."""

from __future__ import annotations

from typing import Final
from typing import NamedTuple

MOST_SHOWN: Final = 1000
"""The most resources of a reservation that are named."""


class HeldResource(NamedTuple):
    """A resource of which a reservation holds all or a part."""

    id: int
    name: str


class Holding(NamedTuple):
    """The resources that a reservation holds now.

    :ivar resources: the first :data:`MOST_SHOWN` of them, in natural order of their names
    :ivar number: how many there are
    """

    resources: tuple[HeldResource, ...] = ()
    number: int = 0
