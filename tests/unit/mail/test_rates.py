# SPDX-License-Identifier: Apache-2.0

"""No recipient gets more mails in an hour than allowed, whatever the order."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import hypothesis
from hypothesis import strategies as st

from climate.mail.mail_sender import HOUR
from climate.mail.mail_sender import MailRates
from tests import base
from tests.unit.mail.samples import NOW


class Record(list[tuple[datetime.datetime, str]]):
    """When mails were sent, and to whom."""

    def sent_since(
        self, instant: datetime.datetime, recipient: str | None
    ) -> Sequence[datetime.datetime]:
        return [at for at, each in self if at > instant and recipient in (None, each)]


class TestRates(base.TestCase):
    """The window of an hour."""

    @hypothesis.given(
        st.lists(st.tuples(st.sampled_from('ab'), st.integers(0, 4000)), max_size=40),
        st.integers(1, 4),
        st.integers(1, 6),
    )
    def test_never_too_many(
        self, wishes: list[tuple[str, int]], per_recipient: int, per_hour: int
    ) -> None:
        out = Record()
        rates = MailRates(per_recipient, per_hour, out.sent_since)
        now = NOW
        for recipient, later in wishes:
            now += datetime.timedelta(seconds=later)
            free = rates.free_at(recipient, now)
            self.assertEqual(rates.room(recipient, now) > 0, free == now)
            if free == now:
                out.append((now, recipient))
            else:
                self.assertGreater(rates.room(recipient, free), 0)
        for at, recipient in out:
            hour = [each for when, each in out if at - HOUR < when <= at]
            self.assertLessEqual(len(hour), per_hour)
            self.assertLessEqual(hour.count(recipient), per_recipient)
