# SPDX-License-Identifier: Apache-2.0

"""The safeguards against double booking, each of which a race can switch off.

The service verifies the bookings of a transaction before it commits, and the database has
constraints and triggers. A refusal by one hides what the other would have done, so each
is also raced alone. Without both, races must find double bookings.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from climate.db.booking import verification


@dataclasses.dataclass(frozen=True, kw_only=True)
class Defences:
    """The safeguards in a race.

    :ivar verified: whether transactions verify their bookings
    :ivar guarded: whether the database has its constraints and triggers
    """

    verified: bool = True
    guarded: bool = True

    @property
    def name(self) -> str:
        """The name in the table."""
        return NAMES[self.verified, self.guarded]


NAMES = {
    (True, True): 'both',
    (True, False): 'verification',
    (False, True): 'guards',
    (False, False): 'none',
}
BOTH = Defences()
VERIFICATION = Defences(guarded=False)
GUARDS = Defences(verified=False)
NONE = Defences(verified=False, guarded=False)
ALL = {each.name: each for each in (BOTH, VERIFICATION, GUARDS, NONE)}


def switch_verification_off() -> None:
    """Let this process commit without verification; only for processes of a race."""

    def accept(*_arguments: Any, **_options: Any) -> None:
        pass

    verification.verify = accept
