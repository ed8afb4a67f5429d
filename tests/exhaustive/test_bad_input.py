# SPDX-License-Identifier: Apache-2.0

"""Every field of every request wrong in turn: 4xx, a text that says why, and not a row changed."""

from __future__ import annotations

import json
from typing import Any

from tests import base
from tests.functional import fixtures
from tests.functional import http
from tests.functional import wrong
from tests.functional import wrong_resources
from tests.functional.fixtures import ServiceCase

CASES = {**wrong.CASES, **wrong_resources.CASES}


def declare(service):
    """Declare types, and register a resource of each."""
    for path, body in (
        ('resource-types', {'name': 'custom:licence', 'exclusive': False, 'classes': {'SEAT': 9}}),
        ('resources', {'resource_type': 'custom:licence', 'name': 'cae'}),
        ('resource-types', {'name': 'custom:free', 'exclusive': False, 'classes': {'SEAT': 9}}),
        ('resource-types', {'name': 'custom:microscope', 'noun': 'microscopes'}),
        ('resources', {'resource_type': 'custom:microscope', 'name': 'm1'}),
    ):
        answer = http.send(service.app, 'POST', f'/v1/{path}', body, version='1.2')
        if answer.status_int != 201:
            raise AssertionError(answer.text)


@base.test_each(CASES)
class FieldsTest(base.TestCase):
    """Each field of each request, wrong in every way there is."""

    def prepare(self):
        """Return a service with a lease, and the ids of that."""
        service = self.useFixture(fixtures.Service(hosts=3))
        lease = http.send(service.app, 'POST', '/v1/leases', http.LEASE).json['lease']
        declare(service)
        return service, {'lease_id': lease['id'], 'reservation_id': lease['reservations'][0]['id']}

    def send(self, service, ids, case, body):
        """Send *body* as *case* wants it."""
        text = json.dumps(body).replace('{reservation_id}', ids['reservation_id'])
        return http.send(
            service.app,
            case.method,
            case.path.format(**ids),
            raw=text.replace('{network}', service.public_network).encode(),
            version=case.version,
        )

    def undo(self, service, case, answer):
        """Delete what was made, so that there is room for the next."""
        if answer.status_int == 201:
            (made,) = answer.json.values()
            name = made.get('id') or made['name']
            gone = http.send(service.app, 'DELETE', f'{case.path}/{name}', version=case.version)
            self.assertEqual(204, gone.status_int, gone.text)

    def check(self, name):
        """Try every wrong value in every field of a case."""
        case = CASES[name]
        service, ids = self.prepare()
        before = service.rows()
        complaints = []
        for field in wrong.fields(case.body):
            for kind, value in wrong.WRONG.items():
                answer = self.send(service, ids, case, wrong.replaced(case.body, field, value))
                after = service.rows()
                accepted = kind in case.accepted.get(field, ())
                complaint = _complaint(answer, case.words(field), accepted, before == after)
                if complaint:
                    complaints.append(f'{field} {kind}: {complaint}')
                if after != before:
                    self.undo(service, case, answer)
                    before = service.rows()
        self.assertEqual('', '\n'.join(complaints))

    def test_the_good_requests_are_good(self):
        for name, case in CASES.items():
            service, ids = self.prepare()
            answer = self.send(service, ids, case, case.body)
            self.assertIn(answer.status_int, (200, 201), f'{name}: {answer.text}')


def _complaint(answer: Any, words: set[str], accepted: bool, same: bool) -> str:
    """Return what is wrong with *answer*; '' if nothing."""
    if answer.status_int < 400:
        return '' if accepted else f'{answer.status_int}'
    if answer.status_int >= 500:
        return f'{answer.status_int} {answer.text[:200]}'
    if answer.content_type != 'application/json' or not isinstance(answer.json, dict):
        return f'no JSON object: {answer.text[:100]}'
    text = answer.json['error_message']
    if not same:
        return f'{answer.status_int}, but rows were changed'
    if accepted:
        return f'{answer.status_int} {text}'
    if not any(word in text for word in words):
        return f'{answer.status_int} does not name it: {text[:200]}'
    return ''


class BodiesTest(ServiceCase):
    """Bodies that are wrong as a whole."""

    def setUp(self):
        super().setUp()
        lease = http.send(self.service.app, 'POST', '/v1/leases', http.LEASE).json['lease']
        self.before = self.service.rows()
        self.requests = [
            ('POST', '/v1/floatingips'),
            ('POST', '/v1/leases'),
            ('PUT', f'/v1/leases/{lease["id"]}'),
            ('POST', '/v1/os-hosts'),
            ('PUT', '/v1/os-hosts/1'),
            ('PATCH', '/v1/os-hosts/properties/rack'),
        ]

    def refused(self, status, raw, **headers):
        """Send *raw* everywhere and expect *status*."""
        for method, path in self.requests:
            answer = http.send(self.service.app, method, path, raw=raw, headers=headers)
            self.assertEqual(status, answer.status_int, f'{method} {path}: {answer.text}')
            self.assertEqual('application/json', answer.content_type)
            self.assertTrue(answer.json['error_message'])
            self.assertEqual(status, answer.json['error_code'])
        self.assertEqual(self.before, self.service.rows())

    def test_no_json(self):
        for raw in (b'', b' ', b'{', b'{"name": }', b'name=x', b'\x00', b'<a/>', b'{"a": 1}}'):
            self.refused(400, raw)

    def test_no_object(self):
        for raw in (b'[]', b'[{"name": "x"}]', b'null', b'true', b'7', b'"x"'):
            self.refused(400, raw)

    def test_invalid_utf_8(self):
        for raw in (b'\xff', b'{"name": "\xff\xfe"}', '{"name": "ü"}'.encode('utf-16')):
            self.refused(400, raw)

    def test_ten_megabytes(self):
        self.refused(413, b'{"name": "' + b'x' * 10**7 + b'"}')

    def test_deep(self):
        self.refused(400, b'{"name": ' + b'[' * 50000 + b']' * 50000 + b'}')
        self.refused(400, b'{"a":' * 15000 + b'1' + b'}' * 15000)

    def test_numbers(self):
        for raw in (b'{"name": NaN}', b'{"name": Infinity}', b'{"name": ' + b'9' * 10000 + b'}'):
            self.refused(400, raw)

    def test_another_type(self):
        self.refused(415, b'{"name": "x"}', **{'Content-Type': 'text/plain'})


class IdsTest(base.TestCase):
    """Ids and queries that are wrong."""

    def test_unknown_ids(self):
        service = self.useFixture(fixtures.Service())
        before = service.rows()
        names = ('1', 'x', '%F0%9F%98%80', 'a' * 3000, '11111111-2222-3333-4444-555555555555',
                 '-1', '0', '999999999999', "'%20OR%201=1", '..')  # fmt: skip
        for name in names:
            for method, path, body in (
                ('GET', f'/v1/leases/{name}', None),
                ('PUT', f'/v1/leases/{name}', {'name': 'x'}),
                ('DELETE', f'/v1/leases/{name}', None),
                ('GET', f'/v1/os-hosts/0{name}', None),
                ('PUT', f'/v1/os-hosts/x{name}', {'gpu': 'x'}),
                ('DELETE', f'/v1/os-hosts/x{name}', None),
                ('GET', f'/v1/os-hosts/x{name}/allocation', None),
                ('PATCH', f'/v1/os-hosts/properties/x{name}', {'private': True}),
            ):
                if path == '/v1/os-hosts/01':
                    continue
                answer = http.send(service.app, method, path, body)
                self.assertEqual(404, answer.status_int, f'{method} {path}: {answer.text}')
                self.assertTrue(answer.json['error_message'])
        self.assertEqual(before, service.rows())

    def test_queries(self):
        service = self.useFixture(fixtures.Service())
        for query in (
            'limit=x',
            'marker=%00',
            'status=%FF',
            'name=' + 'x' * 5000,
            'a[]=1',
            '&&&==',
        ):
            for path in ('leases', 'os-hosts', 'os-hosts/allocations', 'os-hosts/properties'):
                answer = http.send(service.app, 'GET', f'/v1/{path}?{query}', version='1.1')
                self.assertIn(answer.status_int, (200, 400), f'{path}?{query}: {answer.text}')
                answer = http.send(service.app, 'GET', f'/v1/{path}?{query}')
                self.assertIn(answer.status_int, (200, 400), f'{path}?{query}: {answer.text}')
        for query in ('lease_id=x', 'reservation_id=' + 'x' * 3000, 'lease_id='):
            answer = http.send(service.app, 'GET', f'/v1/os-hosts/allocations?{query}')
            self.assertEqual(200, answer.status_int)
