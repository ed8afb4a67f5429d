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

"""Nobody gets more mails in an hour than allowed, whatever the order."""

from __future__ import annotations

import datetime

import hypothesis
from hypothesis import strategies as st

from climate.mail.rates import HOUR
from climate.mail.rates import Rates
from climate.mail.spool import Sent
from tests import base
from tests.unit.mail.samples import NOW


def sent(recipient: str, seconds: int, number: int = 0) -> Sent:
    """Return that a mail was sent so many seconds after the hour."""
    at = NOW + datetime.timedelta(seconds=seconds)
    return Sent(at=at, recipient=recipient, message_id=f'{recipient} {seconds} {number}')


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
        rates = Rates(per_recipient, per_hour)
        seconds, out = 0, []
        for number, (recipient, later) in enumerate(wishes):
            seconds += later
            now = NOW + datetime.timedelta(seconds=seconds)
            free = rates.free_at(recipient, now)
            self.assertEqual(rates.room(recipient, now) > 0, free == now)
            if free == now:
                out.append(sent(recipient, seconds, number))
                rates.count(out[-1])
            else:
                self.assertGreater(Rates(per_recipient, per_hour, out).room(recipient, free), 0)
        for one in out:
            hour = [each for each in out if one.at - HOUR < each.at <= one.at]
            self.assertLessEqual(len(hour), per_hour)
            theirs = [each for each in hour if each.recipient == one.recipient]
            self.assertLessEqual(len(theirs), per_recipient)

    def test_one_mail_that_told_of_many_counts_once(self) -> None:
        rates = Rates(2, 9, [sent('a', 1), sent('a', 1)])
        self.assertEqual(1, rates.room('a', NOW))
