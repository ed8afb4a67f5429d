# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import datetime
import time
from typing import Any

import webob

from tests import base
from tests import services
from tests.functional import bodies
from tests.functional import http
from tests.functional.fixtures import Service

LEASE = bodies.lease('tuesday', '2031-05-01T12:00:00Z', '2031-05-02T12:00:00Z', bodies.hosts(1, 2))

START = datetime.datetime(2031, 5, 1, 12, tzinfo=datetime.UTC)


@services.on_each_engine(base.TestCase)
class _Conditions:
    """A lease on each engine."""

    def setUp(self) -> None:
        super().setUp()
        self.audited: list[dict[str, Any]] = []
        service = Service(database=self.kind)
        service.audit = self.audited.append
        self.service = self.useFixture(service)
        self.made = self.send('POST', '/leases', LEASE)
        self.assertEqual(201, self.made.status_int, self.made.text)
        self.path = f'/leases/{self.made.json["lease"]["id"]}'

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        version: str = '1.4',
        token: str = http.MEMBER,
        **headers: str,
    ) -> webob.Response:
        """Send a request with headers such as ``if_match``."""
        named = {name.replace('_', '-'): text for name, text in headers.items()}
        facts = {'version': version, 'token': token, 'headers': named}
        return http.send(self.service.app, method, f'/v1{path}', body, **facts)

    def show(self, **headers: str) -> webob.Response:
        return self.send('GET', self.path, **headers)

    def start(self) -> None:
        """Have a manager start the lease."""
        self.service.clock.move_to(START)
        self.service.work()

    def assert_current(self, answer: webob.Response) -> None:
        """Check that the body and the tag of an answer are those of a GET right after."""
        shown = self.show()
        self.assertEqual(f'http://localhost/v1{self.path}', answer.headers['Content-Location'])
        self.assertNotIn('Content-Location', shown.headers)
        self.assertEqual(answer.json, shown.json)
        self.assertEqual(answer.headers['ETag'], shown.headers['ETag'])

    def refused(self, answer: webob.Response, header: str = 'If-Match') -> None:
        self.assertEqual(
            (412, 'PRECONDITION_FAILED'), (answer.status_int, answer.json['error_name'])
        )
        self.assert_contains(answer.json['error_message'], header, self.show().headers['ETag'])

    def test_answers_have_the_tag_of_a_get_right_after(self) -> None:
        self.assert_current(self.made)
        (reservation,) = self.made.json['lease']['reservations']
        for change in (
            {'name': 'wednesday'},
            {'end_date': '2031-05-03T12:00:00Z'},
            {'start_date': '2031-05-01T13:00:00Z', 'notify_before_start': [60]},
            {'reservations': [{'id': reservation['id'], 'min': 2, 'max': 2}]},
            {'before_end_date': '2031-05-03T11:00:00Z', 'notices': ['error']},
            {},
        ):
            self.service.clock.advance(1)
            self.assert_current(http.expect(200, self.send('PUT', self.path, change)))

    def test_a_running_lease(self) -> None:
        tags = {self.show().headers['ETag']}
        self.start()
        (reservation,) = self.made.json['lease']['reservations']
        for change in (
            {'end_date': '2031-05-04T12:00:00Z'},
            {'reservations': [{'id': reservation['id'], 'min': 2, 'max': 3}]},
        ):
            shown = self.show()
            self.assertEqual('ACTIVE', shown.json['lease']['status'])
            tags.add(shown.headers['ETag'])
            answer = self.send('PUT', self.path, change, if_match=shown.headers['ETag'])
            self.assertEqual(200, answer.status_int, answer.text)
            self.assert_current(answer)
            tags.add(answer.headers['ETag'])
            self.service.clock.advance(1)
            self.service.work()
        tags.add(self.show().headers['ETag'])
        self.assertEqual(5, len(tags))

    def test_actions_check_the_lease_that_they_change(self) -> None:
        (reservation,) = self.made.json['lease']['reservations']
        tag = self.made.headers['ETag']
        self.service.clock.advance(1)
        self.send('PUT', self.path, {'name': 'wednesday'})
        current, rows = self.show().headers['ETag'], self.service.rows()
        found = http.send(self.service.app, 'GET', '/v1/os-hosts/allocations').json
        taken = [int(row['resource_id']) for row in found['allocations'] if row['reservations']]
        for action, body in (
            ('reallocate', {'reservation_id': reservation['id'], 'resource_id': taken[0]}),
            ('readiness', {'ready': ['compute-1'], 'by': 'power'}),
        ):
            path = f'{self.path}/{action}'
            for headers in (
                {'if_match': tag},
                {'if_match': f'"x", W/{current}'},
                {'if_none_match': '*'},
                {'if_none_match': f'"x",W/{current}'},
            ):
                answer = self.send('POST', path, body, token=http.ADMIN, **headers)
                self.refused(answer, 'If-Match' if 'if_match' in headers else 'If-None-Match')
            self.assertEqual(rows, self.service.rows())
            answer = self.send('POST', path, body, token=http.ADMIN, if_match=f'"x" , {current}')
            self.assertEqual(200, answer.status_int, answer.text)
            current, rows = self.show().headers['ETag'], self.service.rows()

    def test_a_placed_lease(self) -> None:
        placed = {**LEASE['reservations'][0], 'placement': {'prefer': [{'trait': 'CUSTOM_A'}]}}
        made = http.expect(201, self.send('POST', '/leases', {**LEASE, 'reservations': [placed]}))
        path = f'/leases/{made.json["lease"]["id"]}'
        self.assertEqual(made.headers['ETag'], self.send('GET', path).headers['ETag'])
        changed = self.send('PUT', path, {'name': 'a'}, if_match=made.headers['ETag'])
        self.assertEqual(200, changed.status_int, changed.text)
        self.assertEqual(changed.headers['ETag'], self.send('GET', path).headers['ETag'])
        http.expect(204, self.send('DELETE', path, if_match=changed.headers['ETag']))

    def test_what_has_no_tag(self) -> None:
        """Only ``*`` can match it, so nothing is done that a client made conditional."""
        rows = self.service.rows()
        lease = {**LEASE, 'name': 'another'}
        offers = {'duration': '1h', 'reservations': LEASE['reservations']}
        for path, body in (('/leases', lease), ('/offers', offers)):
            for headers in ({'if_match': '"x"'}, {'if_none_match': '*'}):
                answer = http.expect(412, self.send('POST', path, body, **headers))
            self.assertEqual(400, self.send('POST', path, body, if_match='x').status_int)
        self.assertEqual(rows, self.service.rows())
        for number, headers in enumerate(({'if_match': '*'}, {'if_none_match': '"x"'})):
            day = {'start_date': f'2032-05-0{number + 1}T00:00:00Z', 'duration': '1h'}
            body = {**lease, **day, 'name': str(number)}
            del body['end_date']
            answer = http.expect(201, self.send('POST', '/leases', body, **headers))
        for path in (f'{self.path}/history', f'{self.path}/extension'):
            self.assertEqual(412, self.send('GET', path, if_match='"x"').status_int)
            self.assertEqual(200, self.send('GET', path, if_match='*').status_int)
            self.assertEqual(200, self.send('GET', path, if_none_match='"x"').status_int)
            self.assertEqual(400, self.send('GET', path, if_none_match='x').status_int)
            answer = self.send('GET', path, if_none_match='*')
            self.assertEqual((304, b''), (answer.status_int, answer.body))
            answer = self.send('GET', path, version='1.3', if_match='x')
            self.assertIn(answer.status_int, (200, 404))
        self.assertEqual(404, self.send('GET', '/offers/x', if_none_match='*').status_int)

    def test_availability(self) -> None:
        path = '/availability?resource_type=physical:host&step=12h'
        tag = self.send('GET', path).headers['ETag']
        for text in (tag, f'W/{tag}', f'"x", {tag}', '*'):
            answer = self.send('GET', path, if_none_match=text)
            self.assertEqual((304, b''), (answer.status_int, answer.body))
            self.assertEqual(tag, answer.headers['ETag'])
        for text, status in (('"x"', 412), (f'W/{tag}', 412), (tag, 200), ('*', 200), ('x', 400)):
            self.assertEqual(status, self.send('GET', path, if_match=text).status_int, text)
        soon = {**LEASE, 'start_date': 'now', 'end_date': '2031-05-01T00:00:00Z'}
        self.assertEqual(201, self.send('POST', '/leases', soon).status_int)
        self.assertEqual(200, self.send('GET', path, if_none_match=tag).status_int)

    def test_ranges_are_ignored(self) -> None:
        availability = '/availability?resource_type=physical:host&step=12h'
        for path in (self.path, '/leases', '/leases?limit=5', availability):
            first = self.send('GET', path)
            for text in ('bytes=0-9', 'bytes=100000-', 'bytes=-1', 'x=1', '0-9' * 10000):
                answer = self.send('GET', path, range=text, if_range=first.headers['ETag'])
                self.assertEqual((200, first.body), (answer.status_int, answer.body))
                self.assertNotIn('Content-Range', answer.headers)

    def test_headers_of_wild_sizes(self) -> None:
        begun = time.thread_time()
        for text in (
            '"' + 'x' * 60_000 + '"',
            ', '.join(['W/"x"'] * 8_000),
            '"a"' + ' ' * 60_000 + 'x',
            '"a"' + ' ,' * 30_000 + 'x',
            ',' * 60_000,
            '"a",' * 15_000 + '"',
            '"' * 60_001,
        ):
            answer = self.send('PUT', self.path, {'name': 'b'}, if_match=text)
            self.assertIn(answer.status_int, (400, 412), answer.text)
            answer = self.show(if_none_match=text)
            self.assertIn(answer.status_int, (200, 400), answer.text)
            self.assertLess(len(answer.body), 5_000)
        self.assertLess(time.thread_time() - begun, 5)

    def test_a_reallocation(self) -> None:
        found = http.send(self.service.app, 'GET', '/v1/os-hosts/allocations').json
        taken = [item['resource_id'] for item in found['allocations'] if item['reservations']]
        (reservation,) = self.made.json['lease']['reservations']
        self.service.clock.advance(1)
        answer = http.send(
            self.service.app,
            'POST',
            f'/v1{self.path}/reallocate',
            {'reservation_id': reservation['id'], 'resource_id': int(taken[0])},
            version='1.4',
        )
        self.assertEqual(200, answer.status_int, answer.text)
        self.assert_current(answer)

    def test_if_match(self) -> None:
        tag = self.made.headers['ETag']
        self.service.clock.advance(1)
        changed = self.send('PUT', self.path, {'name': 'a'}, if_match=f'"x", {tag}')
        self.assertEqual(200, changed.status_int, changed.text)
        rows = self.service.rows()
        self.refused(self.send('PUT', self.path, {'name': 'b'}, if_match=tag))
        self.refused(
            self.send('PUT', self.path, {'end_date': '2031-06-01T00:00:00Z'}, if_match=tag)
        )
        self.refused(self.send('DELETE', self.path, if_match=tag))
        self.refused(self.send('PUT', self.path, {}, if_match=f'W/{changed.headers["ETag"]}'))
        self.assertEqual(rows, self.service.rows())
        self.assertEqual('a', self.show().json['lease']['name'])
        http.expect(204, self.send('DELETE', self.path, if_match=changed.headers['ETag']))

    def test_a_lease_that_a_manager_changes(self) -> None:
        tag = self.made.headers['ETag']
        self.start()
        self.refused(self.send('DELETE', self.path, if_match=tag))

    def test_any(self) -> None:
        self.assertEqual(200, self.send('PUT', self.path, {'name': 'a'}, if_match='*').status_int)
        self.assertEqual(204, self.send('DELETE', self.path, if_match=' * ').status_int)
        # A lease that is not there is missing, rather than another.
        self.assertEqual(404, self.send('DELETE', self.path, if_match='*').status_int)
        self.assertEqual(404, self.show(if_match='"a"').status_int)

    def test_if_none_match(self) -> None:
        tag = self.made.headers['ETag']
        for text in (tag, f'W/{tag}', f'"x", {tag}', '*'):
            answer = self.show(if_none_match=text)
            self.assertEqual((304, b''), (answer.status_int, answer.body))
            self.assertEqual(tag, answer.headers['ETag'])
            self.assertIn('OpenStack-API-Version', answer.headers['Vary'])
            self.assertNotIn('Content-Type', answer.headers)
        self.assertEqual(200, self.show(if_none_match='"x"').status_int)
        self.refused(self.send('PUT', self.path, {}, if_none_match=tag), 'If-None-Match')
        self.refused(self.send('DELETE', self.path, if_none_match='*'), 'If-None-Match')
        self.refused(self.show(if_match='"x"'))

    def test_head(self) -> None:
        answer = self.send('HEAD', self.path)
        self.assertEqual((200, b''), (answer.status_int, answer.body))
        self.assertEqual(self.made.headers['ETag'], answer.headers['ETag'])
        http.expect(304, self.send('HEAD', self.path, if_none_match=answer.headers['ETag']))

    def test_lists(self) -> None:
        for path in ('/leases', '/leases?limit=5', '/leases?name=nothing'):
            first = self.send('GET', path)
            self.assertEqual('application/json', first.headers['Content-Type'])
            again = self.send('GET', path, if_none_match=first.headers['ETag'])
            self.assertEqual((304, b''), (again.status_int, again.body))
        first = self.send('GET', '/leases')
        self.send('PUT', self.path, {'name': 'a'})
        again = http.expect(200, self.send('GET', '/leases', if_none_match=first.headers['ETag']))

    def test_microversions_have_tags_of_their_own(self) -> None:
        self.assertNotIn('ETag', self.send('GET', self.path, version='1.3').headers)
        for method in ('PUT', 'DELETE'):
            answer = self.send(method, self.path, {'name': 'a'}, version='1.3', if_match='nonsense')
            self.assertIn(answer.status_int, (200, 204))

    def test_malformed(self) -> None:
        rows = self.service.rows()
        for text in ('', 'a', '"a', '*, "a"'):
            for method, body in (('PUT', {'name': 'a'}), ('DELETE', None), ('GET', None)):
                for header in ('if_match', 'if_none_match'):
                    answer = self.send(method, self.path, body, **{header: text})
                    self.assertEqual(
                        (400, 'MALFORMED_PARAMETER'), (answer.status_int, answer.json['error_name'])
                    )
        self.assertEqual(rows, self.service.rows())

    def test_the_audit_trail_is_complete(self) -> None:
        """Though it reads the lease with the headers of the change."""
        self.audited.clear()
        self.send('PUT', self.path, {'name': 'a'}, if_match=self.made.headers['ETag'])
        self.send('DELETE', self.path, if_match=self.made.headers['ETag'], if_none_match='"x"')
        for event, parts in zip(self.audited, (['before', 'after'], ['before']), strict=True):
            self.assertEqual(parts, [item['name'] for item in event['attachments']])
