# SPDX-License-Identifier: Apache-2.0
"""What a hostile member of a project tries with offers, keys and headers."""

from __future__ import annotations

import json
import time
from typing import Any

from tests import base
from tests.functional import http
from tests.functional.retries import LEASE
from tests.functional.retries import RetryCase
from tests.functional.test_holds import ALL_HOSTS
from tests.functional.test_holds import BOB
from tests.functional.test_holds import HoldsCase
from tests.functional.test_offers import HOSTS
from tests.functional.test_offers import SLOTS


class TestOffersOfOthers(HoldsCase):
    """A project sees and changes nothing of another one."""

    def test_they_are_not_there(self) -> None:
        self.start()
        offer = self.held(HOSTS)
        rows = self.service.rows()
        path = f'offers/{offer["id"]}'
        for method in ('GET', 'HEAD', 'DELETE'):
            for text in (path, path.upper().replace('OFFERS', 'offers'), f'{path}/'):
                answer = http.expect(404, self.sent(method, text, None, BOB))
        for body in ({}, {'dry_run': True}, {'notices': ['error']}):
            answer = http.expect(404, self.take(offer, BOB, **body))
            self.assertNotIn('alternatives', answer.json)
        # A key with the id of the offer names nothing of it.
        key = {'Idempotency-Key': offer['id']}
        taking = {'name': 'l', 'offer_id': offer['id']}
        self.check_status(404, self.sent('POST', 'leases', taking, BOB, **key))
        left = {table: found for table, found in self.service.rows().items() if 'idem' not in table}
        self.assertEqual({table: rows[table] for table in left}, left)
        self.check_status(201, self.take(offer))

    def test_alternatives_of_alternatives(self) -> None:
        """Each that is gone has others, until nothing is left."""
        self.start()
        self.check_status(201, self.sent('POST', 'leases', self.lease([HOSTS]), BOB))
        refused = self.check_status(409, self.sent('POST', 'leases', self.lease([ALL_HOSTS])))
        for _ in range(3):
            offer = refused['alternatives'][0]
            theirs = {'start_date': offer['start_date'], 'end_date': offer['end_date']}
            self.check_status(201, self.sent('POST', 'leases', self.lease([HOSTS], **theirs), BOB))
            refused = self.check_status(404, self.take(offer))
            self.assertEqual('OFFER_GONE', refused['error_name'])
            self.assertGreater(refused['alternatives'][0]['start_date'], offer['start_date'])
        self.check_status(201, self.take(refused['alternatives'][0]))
        self.check_status(409, self.take(refused['alternatives'][0]))


class TestAmounts(HoldsCase):
    """Numbers that no cloud has."""

    def test_impossible_amounts(self) -> None:
        self.start()
        for reservation in (
            {**HOSTS, 'min': 2**31 - 1, 'max': 2**31 - 1},
            {**HOSTS, 'min': 2**62, 'max': 2**62},
            {**HOSTS, 'min': 0, 'max': 0},
            {**HOSTS, 'min': -1},
            {**HOSTS, 'min': 2, 'max': 1},
            {**SLOTS, 'amount': 2**31 - 1},
            {**SLOTS, 'vcpus': 2**62},
            {**SLOTS, 'amount': 2**31 - 1, 'affinity': True},
            {**SLOTS, 'amount': 2**31 - 1, 'affinity': False},
        ):
            begun = time.thread_time()
            offers = self.sent('POST', 'offers', {'reservations': [reservation], 'duration': '1h'})
            if offers.status_int == 200:
                self.assertEqual([], offers.json['offers'], reservation)
            else:
                self.assertEqual(400, offers.status_int, offers.text)
            for more in ({}, {'dry_run': True}):
                answer = self.sent('POST', 'leases', self.lease([reservation], **more))
                self.assertIn(answer.status_int, (400, 409), answer.text)
            self.assertLess(time.thread_time() - begun, 2, reservation)
        self.assertEqual([], self.allocations())


class TestKeys(RetryCase, base.TestCase):
    """Keys and headers that no client needs."""

    def test_keys(self) -> None:
        rows = self.service.rows()
        for key in (
            'schl\xc3\xbcssel',
            '"\xf0\x9f\x94\x91"',
            'a\tb',
            'a\x7f',
            '"a',
            '"a"b"',
            '"a\\',
            '"' + 'a' * 256 + '"',
            '"a", "b"',
            'x' * 60_000,
            '"' + '\\"' * 30_000,
            ' ' * 60_000,
        ):
            begun = time.thread_time()
            answer = self.post('/leases', LEASE, key)
            self.refused(answer, 400, 'MALFORMED_PARAMETER')
            self.assertLess(len(answer.body), 1_000)
            self.assertLess(time.thread_time() - begun, 1, key[:9])
        self.assertEqual(rows, self.service.rows())

    def test_a_body_of_many_reservations(self) -> None:
        body: Any = {**LEASE, 'reservations': LEASE['reservations'] * 1000}
        begun = time.thread_time()
        for path in ('/leases', '/offers'):
            if path == '/offers':
                body = {'reservations': body['reservations'], 'duration': '1h'}
            self.refused(self.post(path, body, None), 400, 'MALFORMED_PARAMETER')
        self.assertLess(time.thread_time() - begun, 1)
        large = json.dumps({'name': 'x' * 200_000})
        self.refused(self.post('/leases', None, None, raw=large.encode()), 413, 'REQUEST_TOO_LARGE')
