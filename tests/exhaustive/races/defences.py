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

"""What keeps a resource from being booked twice, each of which can be left out of a race.

The service judges what a transaction has booked before it commits, and the database
has rules of its own. A refusal by one hides what the other would have done, so each
is raced without the other. Without both, races have to find what is booked twice.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from climate.db import judgement


@dataclasses.dataclass(frozen=True, kw_only=True)
class Defences:
    """What takes part in a race.

    :ivar judged: whether transactions judge what they have booked
    :ivar guarded: whether the database keeps its rules
    """

    judged: bool = True
    guarded: bool = True

    @property
    def name(self) -> str:
        """What it is called in the table."""
        return NAMES[self.judged, self.guarded]


NAMES = {
    (True, True): 'both',
    (True, False): 'judgement',
    (False, True): 'guards',
    (False, False): 'none',
}
BOTH = Defences()
JUDGEMENT = Defences(guarded=False)
GUARDS = Defences(judged=False)
NONE = Defences(judged=False, guarded=False)
ALL = {each.name: each for each in (BOTH, JUDGEMENT, GUARDS, NONE)}


def switch_judgement_off() -> None:
    """Have this process commit whatever it has booked.

    For processes that are made for a race only.
    """

    def bears(*_arguments: Any, **_options: Any) -> None:
        pass

    judgement.judge = bears
