# SPDX-License-Identifier: Apache-2.0

"""Windows and slices that cannot be: each is a clear 400, and nothing is kept."""

from __future__ import annotations

from typing import Any

from tests import base
from tests.functional import fixtures
from tests.functional import http
from tests.functional.manager.walk import servers

HOUR = '1h'
SOON = '2030-01-02T00:00:00Z'
# The body, and what the answer names.
CASES: dict[str, tuple[dict[str, Any], str]] = {
    'too short': ({'earliest': SOON, 'latest': '2030-01-02T00:59:00Z'}, 'latest: a time at least'),
    'latest first': ({'earliest': SOON, 'latest': '2030-01-01T23:00:00Z'}, 'latest'),
    'past': ({'earliest': '2029-01-01T00:00:00Z', 'latest': '2029-01-02T00:00:00Z'}, 'earliest'),
    'over': ({'latest': '2029-12-31T00:00:00Z'}, 'latest'),
    'no time': ({'duration': '0s'}, 'duration'),
    'no minutes': ({'duration': 0}, 'duration'),
    'less than none': ({'duration': '-1h'}, 'duration'),
    'long slices': ({'preemptible': True, 'yield': 'end', 'min_duration': '2h'}, 'min_duration'),
    'no slices': ({'preemptible': True, 'yield': 'end', 'min_duration': 0}, 'min_duration'),
    'no suspension': ({'preemptible': True, 'yield': 'suspend'}, 'cannot be suspended'),
    'wait too late': ({'wait': True, 'wait_until': '2029-01-01T00:00:00Z'}, 'wait_until'),
    'slices of a fixed lease': ({'preemptible': True, 'start_date': SOON}, 'preemptible'),
}


class TestBadWindows(base.TestCase):
    """A service with four hosts."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service())

    def send(self, method: str, path: str, body: Any) -> Any:
        return http.send(
            self.service.app, method, f'/v1/{path}', body, token=http.MEMBER, version='1.8'
        )

    def body(self, facts: dict[str, Any]) -> dict[str, Any]:
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        return {'name': 'a', 'duration': HOUR, 'reservations': [one], **facts}

    def refused(self, status: int, part: str, *request: Any) -> None:
        before = self.service.rows()
        answer = self.send(*request)
        self.assertEqual(status, answer.status_int, answer.text)
        self.assertIn(part, answer.json['error_message'])
        after = self.service.rows()
        changed = {name for name in before if before[name] != after[name]}
        # What may be taken instead.
        self.assertLessEqual(changed, {'offers', 'refusals'} if status == 409 else set())

    def test_it_is_not_booked(self) -> None:
        for facts, part in CASES.values():
            self.refused(400, part, 'POST', 'leases', self.body(facts))
            self.refused(400, part, 'POST', 'leases', self.body({**facts, 'dry_run': True}))

    def test_it_does_not_change_a_lease(self) -> None:
        lease = self.send('POST', 'leases', self.body({'earliest': SOON})).json['lease']
        for name in ('too short', 'latest first', 'past', 'no time', 'less than none'):
            facts, part = CASES[name]
            self.refused(400, part, 'PUT', f'leases/{lease["id"]}', facts)

    def test_a_server_has_one_lease_at_a_time(self) -> None:
        self.service.cloud.put_member('alice', 'blue', 'member', 'reader')
        (own,) = servers.own(self.service.cloud)
        body = self.body({'reservations': [own], 'earliest': SOON, 'duration': '2h'})
        self.assertEqual(201, self.send('POST', 'leases', body).status_int)
        body = {**body, 'duration': HOUR, 'latest': '2030-01-02T02:30:00Z'}
        for facts in ({}, {'preemptible': True}, {'dry_run': True}):
            self.refused(409, '', 'POST', 'leases', {**body, **facts})
        lease = self.send('POST', 'leases', {**body, 'latest': '2030-01-02T04:00:00Z'}).json[
            'lease'
        ]
        self.assertEqual('2030-01-02T02:00:00Z', lease['start_date'])
