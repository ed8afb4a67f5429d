# SPDX-License-Identifier: Apache-2.0

"""Compressed lists, and the tags of lists, over HTTP."""

from __future__ import annotations

import gzip

import webob

from climate.api.http.microversions import V1_5
from climate.api.views import fields
from climate.api.views import leases
from tests import base
from tests.functional import http
from tests.functional.fixtures import Service

LISTS = (
    '/v1/leases',
    '/v1/os-hosts',
    '/v1/resources',
    '/v1/resource-types',
    '/v1/maintenances',
    '/v1/availability?resource_type=physical:host',
    '/v1/calendar?resource_type=physical:host&start=2031-01-01T00:00:00Z&end=2031-02-01T00:00:00Z',
)
ALLOCATIONS = '/v1/os-hosts/allocations'
FIELDS = [one.name for one in fields.at(leases.LEASE, V1_5)]


class CompressionTest(base.TestCase):
    """What a client that accepts gzip gets."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service(hosts=4))
        for number in range(5):
            lease = {
                **http.LEASE,
                'name': f'lease {number}',
                'start_date': f'2031-01-0{number + 1} 00:00',
                'end_date': f'2031-01-0{number + 1} 10:00',
                'events': [],
            }
            self.assertEqual(201, self.send('POST', '/v1/leases', lease).status_int)

    def send(self, method: str, path: str, body: object = None, **headers: str) -> webob.Response:
        version = headers.pop('version', '1.5')
        named = {name.replace('_', '-'): text for name, text in headers.items()}
        return http.send(self.service.app, method, path, body, version=version, headers=named)

    def test_lists(self) -> None:
        for path in (*LISTS, ALLOCATIONS):
            plain = self.send('GET', path)
            packed = self.send('GET', path, Accept_Encoding='gzip')
            self.assertNotIn('Content-Encoding', plain.headers)
            for answer in (plain, packed):
                self.assertIn('Accept-Encoding', answer.headers.getall('Vary'))
            if len(plain.body) < 1400:
                self.assertNotIn('Content-Encoding', packed.headers, path)
                continue
            self.assertEqual('gzip', packed.headers['Content-Encoding'], path)
            self.assertEqual(str(len(packed.body)), packed.headers['Content-Length'])
            self.assertLess(len(packed.body), len(plain.body))
            self.assertEqual(plain.body, gzip.decompress(packed.body))
            head = self.send('HEAD', path, Accept_Encoding='gzip')
            self.assertEqual((200, b''), (head.status_int, head.body))
            self.assertNotIn('Content-Encoding', head.headers)

    def test_tags(self) -> None:
        for path in LISTS:
            tag = self.send('GET', path).headers['ETag']
            packed = self.send('GET', path, Accept_Encoding='gzip')
            self.assertEqual(f'W/{tag}', packed.headers['ETag'], path)
            for text in (tag, f'W/{tag}', '*'):
                for encoding in ('', 'gzip'):
                    known = self.send('GET', path, If_None_Match=text, Accept_Encoding=encoding)
                    self.assertEqual((304, b''), (known.status_int, known.body), path)
                    self.assertNotIn('Content-Encoding', known.headers)
            self.assertEqual(412, self.send('GET', path, If_Match='"x"').status_int, path)
            self.assertEqual(200, self.send('GET', path, If_Match=tag).status_int, path)
            self.assertEqual(400, self.send('GET', path, If_None_Match='x').status_int, path)
            self.assertEqual(tag, self.send('HEAD', path).headers['ETag'], path)

    def test_before_1_5(self) -> None:
        for path in (*LISTS[:5], ALLOCATIONS):
            for version in ('1.0', '1.4'):
                answer = self.send('GET', path, version=version, Accept_Encoding='gzip')
                self.assertNotIn('Content-Encoding', answer.headers)
                self.assertNotIn('Accept-Encoding', answer.headers.getall('Vary'))
        self.assertNotIn('ETag', self.send('GET', '/v1/os-hosts', version='1.4').headers)

    def test_one_lease_is_not_compressed(self) -> None:
        lease = self.send('GET', '/v1/leases').json['leases'][0]
        answer = self.send('GET', f'/v1/leases/{lease["id"]}', Accept_Encoding='gzip')
        self.assertNotIn('Content-Encoding', answer.headers)
        self.assertTrue(answer.headers['ETag'].startswith('"'))

    def test_errors_are_not_compressed(self) -> None:
        answer = self.send('GET', f'/v1/leases?name={"x" * 5000}', Accept_Encoding='gzip')
        self.assertEqual(400, answer.status_int)
        self.assertNotIn('Content-Encoding', answer.headers)

    def test_all_fields_are_the_whole_lease(self) -> None:
        whole = self.send('GET', '/v1/leases').json['leases']
        self.assertEqual(FIELDS, list(whole[0]))
        every = self.send('GET', f'/v1/leases?fields={",".join(reversed(FIELDS))}').json['leases']
        self.assertEqual(whole, every)
        for name in FIELDS:
            some = self.send('GET', f'/v1/leases?fields={name}').json['leases']
            self.assertEqual([{name: lease[name]} for lease in whole], some)
