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

"""How many mails may go out, to one recipient and altogether."""

from __future__ import annotations

import collections
import datetime
from collections.abc import Iterable
from typing import Final

from climate.mail.spool import Sent

HOUR: Final = datetime.timedelta(hours=1)


class Rates:
    """Counts the mails of the last hour.

    :param per_recipient: how many one recipient may get in an hour
    :param per_hour: how many may go out in an hour
    :param sent: what went out before, so that a restart is no way around it
    """

    def __init__(self, per_recipient: int, per_hour: int, sent: Iterable[Sent] = ()) -> None:
        self._per_recipient = per_recipient
        self._per_hour = per_hour
        # Many notices may have gone out in one mail.
        once = {one.message_id: one for one in sent}
        self._sent = collections.deque(sorted(once.values(), key=lambda one: one.at))

    def room(self, recipient: str, now: datetime.datetime) -> int:
        """Return how many mails a recipient may get now."""
        self._forget(now)
        theirs = sum(one.recipient == recipient for one in self._sent)
        return max(min(self._per_recipient - theirs, self._per_hour - len(self._sent)), 0)

    def free_at(self, recipient: str, now: datetime.datetime) -> datetime.datetime:
        """Return when a recipient may get the next mail; *now* if they may now."""
        self._forget(now)
        theirs = [one.at for one in self._sent if one.recipient == recipient]
        all_of_them = [one.at for one in self._sent]
        until = now
        for sent, most in ((theirs, self._per_recipient), (all_of_them, self._per_hour)):
            if len(sent) >= most:
                until = max(until, sent[len(sent) - most] + HOUR)
        return until

    def count(self, sent: Sent) -> None:
        """Note that a mail went out."""
        self._sent.append(sent)

    def _forget(self, now: datetime.datetime) -> None:
        while self._sent and self._sent[0].at <= now - HOUR:
            self._sent.popleft()
