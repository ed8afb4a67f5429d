# SPDX-License-Identifier: Apache-2.0

"""Limits on the number of mails, to one recipient and in total.

The record in the spool counts, so that a restart does not reset the limits.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Final

HOUR: Final = datetime.timedelta(hours=1)


class MailRates:
    """Counts how many mails may still be sent within an hour.

    :param per_recipient: the limit for one recipient
    :param per_hour: the limit for all recipients
    :param sent_since: returns when mails were sent after an instant, oldest first,
        to one address, or to all if it is None
    """

    def __init__(
        self,
        per_recipient: int,
        per_hour: int,
        sent_since: Callable[[datetime.datetime, str | None], Sequence[datetime.datetime]],
    ) -> None:
        self._per_recipient = per_recipient
        self._per_hour = per_hour
        self._sent_since = sent_since

    def room(self, recipient: str, now: datetime.datetime) -> int:
        """Return how many mails a recipient may get now."""
        return max(min(most - len(sent) for sent, most in self._counted(recipient, now)), 0)

    def free_at(self, recipient: str, now: datetime.datetime) -> datetime.datetime:
        """Return when a recipient may get the next mail; *now* if they may now."""
        full = [(sent, most) for sent, most in self._counted(recipient, now) if len(sent) >= most]
        return max((sent[len(sent) - most] + HOUR for sent, most in full), default=now)

    def _counted(
        self, recipient: str, now: datetime.datetime
    ) -> Iterator[tuple[Sequence[datetime.datetime], int]]:
        """Yield the mails that count towards each limit, and the limit."""
        yield self._sent_since(now - HOUR, recipient), self._per_recipient
        yield self._sent_since(now - HOUR, None), self._per_hour
