# SPDX-License-Identifier: Apache-2.0

"""What replaces a lease with placements, or its dates, keeps to the placements.

Takes about 2 seconds.
"""

from __future__ import annotations

from collections import Counter

from tests.functional import http
from tests.functional.test_placements import hosts
from tests.functional.test_placements import PERIOD
from tests.functional.test_placements import PlacementCase


class TestMovedPlacements(PlacementCase):
    """With SQL."""

    def test_reservations_in_one_rack_move_together(self) -> None:
        """One after the other, none of them could leave the rack."""
        prefer = [{'property': 'rack', 'value': 'b2'}]
        later = {'start_date': '2030-02-02T00:00:00Z', 'end_date': '2030-02-02T02:00:00Z'}
        wanted = hosts(1, prefer=prefer), hosts(1, same_as=[{'reservation': 0, 'property': 'rack'}])
        lease = self.book(*wanted, **later)
        self.assertEqual(Counter(b2=1), self.where(lease, 'rack'))
        self.book(hosts(1, prefer=prefer))
        http.expect(200, self.send('PUT', f'leases/{lease["id"]}', PERIOD))
        for place in (0, 1):
            self.assertEqual(Counter(a1=1), self.where(self.shown(lease), 'rack', place))
        # There is no third rack of two hosts.
        other = self.book(*wanted, **later)
        http.expect(409, self.send('PUT', f'leases/{other["id"]}', PERIOD))
        self.assertEqual(other, self.shown(other))

    def test_alternatives_that_are_taken_keep_to_it(self) -> None:
        wanted = hosts(1), hosts(2, same_as=[{'reservation': 0, 'property': 'zone'}])
        taken = self.book(hosts(3, same=['zone']))
        alternatives = {
            one['reason']: one for one in self.book(*wanted, status=409)['alternatives']
        }
        self.assertEqual({'soonest', 'most'}, {*alternatives})
        for reason, count in (('soonest', 2), ('most', 1)):
            body = {'name': reason, 'offer_id': alternatives[reason]['id']}
            lease = http.expect(201, self.send('POST', 'leases', body)).json['lease']
            self.assertEqual(count, len(self.members(lease, 1)))
            zones = self.where(lease, 'zone') | self.where(lease, 'zone', 1)
            self.assertEqual(1, len(zones), zones)
            self.assertEqual(taken['end_date'] == lease['start_date'], reason == 'soonest')
