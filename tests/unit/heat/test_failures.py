# SPDX-License-Identifier: Apache-2.0

"""What a stack says of a lease that failed."""

from __future__ import annotations

import requests

from climate.client.sdk import errors
from climate.client.sdk.histories import LeaseHistory
from climate.heat import booking
from climate.heat import failures
from tests import base

REASON = {
    'resource_type': 'physical:host',
    'matched': 3,
    'free': 1,
    'first_blocker_ends': '2030-01-01T13:00:00Z',
}
OFFER = {
    'start_date': '2030-01-01T13:00:00Z',
    'end_date': '2030-01-01T14:00:00Z',
    'reason': 'soonest',
    'reservations': [{'resource_type': 'physical:host', 'amount': 2}],
}
REFUSAL = (
    'Not enough hosts available; hosts: 3 match, 1 free, and the first reservation in '
    'the way ends 2030-01-01 13:00 UTC; offered: 2030-01-01 13:00 UTC to 2030-01-01 14:00 UTC: '
    '2 hosts (later)'
)


def refusal() -> errors.RefusedRequest:
    """Return a refusal with a reason and an offer."""
    response = requests.Response()
    response.status_code = 409
    body = {
        'error_message': 'Not enough hosts available',
        'error_name': 'NOT_ENOUGH_RESOURCES',
        'reasons': [REASON],
        'alternatives': [OFFER],
    }
    return errors.ConflictRefusal(response, body)


class FailuresTest(base.TestCase):
    """One line, with times in UTC."""

    def test_refusal(self) -> None:
        self.assertEqual(REFUSAL, failures.describe(refusal()))
        self.assertEqual('NOT_ENOUGH_RESOURCES', refusal().name)

    def test_no_offer(self) -> None:
        try:
            raise booking.NoOffer('There is no offer of 2h') from refusal()
        except booking.NoOffer as error:
            found = failures.describe(error)
        self.assertEqual(f'There is no offer of 2h; {REFUSAL}', found)
        self.assertEqual('x', failures.describe(booking.NoOffer('x')))

    def test_history(self) -> None:
        steps = [{'error': 'no host'}, {'error': 'no aggregate'}, {'error': None}]
        self.assertEqual('no aggregate', failures.of_history(LeaseHistory(steps=steps)))
        self.assertEqual('', failures.of_history(LeaseHistory()))
