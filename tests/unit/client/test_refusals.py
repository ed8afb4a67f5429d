# SPDX-License-Identifier: Apache-2.0

"""A refusal shows its reasons and offers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import requests

from climate.client import refusals
from climate.client.sdk import errors
from tests import base
from tests.narrowing import present


def offer(reason: str, **fields: Any) -> dict[str, Any]:
    """Return an offer of two hosts for an hour."""
    return {
        'start_date': '2030-01-01T12:00:00Z',
        'end_date': '2030-01-01T13:00:00Z',
        'reason': reason,
        'reservations': [{'resource_type': 'physical:host', 'amount': 2}],
        **fields,
    }


def refusal(*alternatives: dict[str, Any]) -> errors.RefusedRequest:
    """Return the refusal of a lease."""
    response = requests.Response()
    response.status_code = 409
    body = {
        'error_message': 'Not enough hosts available',
        'reasons': [{'resource_type': 'physical:host', 'matched': 3, 'free': 1}],
        'alternatives': alternatives,
    }
    return errors.ConflictRefusal(response, body)


class RefusalTest(base.TestCase):
    """What the user sees and chooses."""

    def test_only_offers_that_can_be_taken_have_a_number(self) -> None:
        lines = refusals.describe(
            refusal(
                offer('soonest', id='a'),
                offer('longest'),
                offer(
                    'other_property', id='b', requirements=[{'property': 'rack', 'values': ['r1']}]
                ),
            )
        ).split('\n')
        self.assertEqual('Not enough hosts available', lines[0])
        self.assertEqual('  hosts: 3 match, 1 free', lines[1])
        self.assertRegex(lines[2], r'^  1\. .*: 2 hosts \(later\)$')
        self.assertIn('offer a', lines[3])
        self.assertRegex(lines[4], r'^  - .*\(as long as it is free\)$')
        self.assertRegex(lines[5], r'^  2\. .*\(with another property\)$')
        self.assertEqual(['     rack: r1', '     offer b'], lines[6:])

    def test_an_explanation_is_shown_once(self) -> None:
        error = refusal()
        error.reasons = [{'resource_type': 'physical:host', 'detail': 'No host has the property a'}]
        lines = refusals.describe(error).split('\n')
        self.assertEqual('  hosts: No host has the property a', lines[1])
        error.message = 'Not enough hosts available: no host has the property a'
        self.assertEqual([error.message], refusals.describe(error).split('\n'))

    def test_nothing_matches(self) -> None:
        error = refusal()
        error.reasons = [{'resource_type': 'physical:host', 'matched': 0, 'free': 0}]
        (_, line) = refusals.describe(error).split('\n')
        self.assertIn('hosts: none matches; openstack reservable resource property list', line)

    def test_choice(self) -> None:
        answers: Iterator[str] = iter(['3', 'x', '0', ' 2 '])
        error = refusal(offer('soonest', id='a'), offer('longest'), offer('most', id='b'))
        chosen = present(refusals.choose(error, lambda _question: next(answers)))
        self.assertEqual('b', chosen['id'])
        self.assertIsNone(refusals.choose(error, lambda _question: '\n'))
        self.assertIsNone(refusals.choose(error, None))
        waits = {'wait': True}
        self.assertIs(waits, refusals.choose(error, lambda _question: 'W', waits))
        self.assertIs(waits, refusals.choose(refusal(), lambda _question: 'w', waits))
        self.assertIsNone(refusals.choose(refusal(offer('longest')), lambda _question: '1'))
