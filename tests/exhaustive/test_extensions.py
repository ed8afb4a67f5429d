# SPDX-License-Identifier: Apache-2.0

"""Extensions of leases, and alternatives to refused changes, in random situations.

Each offer can be taken, and there is no room for a minute more.
"""

from __future__ import annotations

from typing import Any

from tests.functional.test_extensions import after
from tests.functional.test_extensions import ExtensionsCase

ROUNDS = 10
OTHERS = 7


class TestExtensions(ExtensionsCase):
    """Leases that have not begun."""

    def test_each_offer_can_be_taken_and_no_more(self) -> None:
        seen: set[str] = set()
        for _ in range(ROUNDS):
            self.clear()
            for _ in range(OTHERS):
                start = self.rng.randrange(4, 20)
                self.book(start, start + self.rng.randrange(1, 4))
            lease = self.book(0, 3)
            if lease is not None:
                seen |= self.check_offers(lease)
        self.assertIn('extended', seen)

    def check_offers(self, lease: dict[str, Any]) -> set[str]:
        """Rehearse what is offered, and a little more."""
        path = f'leases/{lease["id"]}'
        found = self.send('GET', f'{path}/extension?latest={self.hour(24)}').json['extension']
        before = self.rows(lease)
        kinds = {one['reason']: one for one in found['offers']}
        for one in found['offers']:
            self.assertEqual(200, self.dry('PUT', path, {'end_date': one['end_date']}), found)
        furthest = found['offers'][-1]['end_date'] if found['offers'] else found['end_date']
        if furthest < found['searched_until']:
            self.assertEqual(409, self.dry('PUT', path, {'end_date': after(furthest)}), found)
            self.assertNotEqual([], found['blocked_by'])
        if 'extended' in kinds:
            self.send('PUT', path, {'end_date': kinds['extended']['end_date']})
            self.assertEqual(before, self.rows(lease))
        if found['end_date'] < furthest:
            self.send('PUT', path, {'end_date': after(found['end_date'])})
            self.assertNotEqual(before, self.rows(lease))
        return set(kinds)


class TestAlternatives(ExtensionsCase):
    """Refused changes of leases that have not begun."""

    def test_each_can_be_taken(self) -> None:
        seen: set[str] = set()
        for _ in range(ROUNDS):
            self.clear()
            for _ in range(OTHERS):
                start = self.rng.randrange(0, 12)
                self.book(start, start + self.rng.randrange(1, 4))
            lease = self.book(2, 4)
            if lease is not None:
                seen |= self.check_alternatives(lease)
        self.assertIn('soonest', seen)

    def check_alternatives(self, lease: dict[str, Any]) -> set[str]:
        """Request more for longer, and rehearse each alternative."""
        path, body = f'leases/{lease["id"]}', {'end_date': self.hour(10)}
        more = [self.more(one, 1) for one in lease['reservations']]
        answer = self.send('PUT', path, {**body, 'reservations': more})
        if answer.status_int == 200:
            return set()
        self.assertEqual(409, answer.status_int, answer.text)
        for one in answer.json['alternatives']:
            amounts = [item['amount'] for item in one['reservations']]
            wanted = more
            if one['reason'] == 'most':
                pairs = zip(lease['reservations'], amounts, strict=True)
                wanted = [self.exactly(*pair) for pair in pairs]
            change = {key: one[key] for key in ('start_date', 'end_date')}
            answered = self.send('PUT', path, {**change, 'reservations': wanted, 'dry_run': True})
            self.assertEqual(200, answered.status_int, (one, answered.text))
        return {one['reason'] for one in answer.json['alternatives']}

    def more(self, reservation: dict[str, Any], number: int) -> dict[str, Any]:
        """Return a change of a reservation to more."""
        return self.exactly(reservation, (reservation.get('amount') or reservation['min']) + number)

    def exactly(self, reservation: dict[str, Any], number: int) -> dict[str, Any]:
        """Return a change of a reservation to a number."""
        if reservation['resource_type'] == 'physical:host':
            return {'id': reservation['id'], 'min': number, 'max': number}
        return {'id': reservation['id'], 'amount': number}
