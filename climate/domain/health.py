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

"""What is known of whether hosts work."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from typing import Final

ASLEEP: Final = 'climate-power: asleep'
"""Why a nova-compute is disabled whose host was switched off to save power.

Such a host has not failed: it is woken before somebody needs it, and may be
booked like any other.
"""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HostNews:
    """What somebody says of a nova-compute.

    :ivar service_host: the name of its machine, as aggregates know it
    :ivar fault: why nothing is to be put there; '' if it says of no fault
    """

    service_host: str
    fault: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """A resource that may fail.

    :ivar service_host: the name under which Nova's services know it
    :ivar failed: whether it is known not to work
    """

    resource_id: int
    name: str
    service_host: str
    failed: bool = False


class HealActive(enum.StrEnum):
    """Which reservations that have begun are moved off a resource that is out.

    ``never``: none; ``empty``: those of which nothing runs there; ``always``:
    all, and what runs there is lost.
    """

    NEVER = 'never'
    EMPTY = 'empty'
    ALWAYS = 'always'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Trouble:
    """A resource that is not there for some of the time that it is promised for.

    :ivar name: of the resource
    :ivar begins: since when, or from when on (aware UTC)
    :ivar reason: for people, such as ``compute-1 has failed``
    """

    reservation_id: str
    resource_id: int
    name: str
    begins: datetime.datetime
    reason: str
