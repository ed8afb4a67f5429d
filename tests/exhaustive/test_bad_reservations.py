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

"""Every field of a reservation of every type, wrong in every way there is.

The fields are those of the types' own schemas: a type that is added is tested
once it says what it looks like in the walk. What a schema refuses has to be
refused with a text that names the field; what it allows may be refused for
other reasons. Nothing is ever a 500, and what is refused changes not a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema

from tests import base
from tests.functional import declared
from tests.functional import fixtures
from tests.functional import http
from tests.functional import wrong
from tests.functional.manager.walk import kinds

# Read for every type in one place, and wrong in `wrong.py`.
_COMMON = frozenset({'resource_type', 'id'})
# What the text of a refusal calls a field, if not by its name.
_CALLED = {'required_floatingips': 'IP address'}


class TestFields(base.TestCase):
    """A test for each type; they are made below."""

    def prepare(self, kind: kinds.Kind) -> list[dict[str, Any]]:
        """Start a service with the resources of a kind; return what can be booked."""
        self.service = self.useFixture(fixtures.Service(hosts=4, types=declared.plugins().values()))
        place = kinds.Place(self.service.store, self.service.plugins, self.service.twin)
        return [dict(request) for request in kind.furnish(place)]

    def send(self, method: str, path: str, body: Any, version: str) -> Any:
        """Send a request."""
        # The user who has what the kinds take that is there already.
        return http.send(self.service.app, method, path, body, token=http.MEMBER, version=version)

    def body(self, requests: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a body that books *requests*."""
        return {**http.LEASE, 'events': [], 'reservations': requests}

    def check_creation(self, kind: kinds.Kind) -> None:
        """Book with each field wrong."""
        requests = self.prepare(kind)
        before = self.service.rows()
        complaints = []
        for version in ('1.0', '1.2'):
            for field, name, value in self.wrongs(requests):
                body = wrong.replaced(self.body(requests), f'reservations[0].{field}', value)
                answer = self.send('POST', '/v1/leases', body, version)
                valid = self.valid(requests, field, value, required=True)
                if answer.status_int == 201:
                    made = answer.json['lease']['id']
                    self.send('DELETE', f'/v1/leases/{made}', None, version)
                    before = self.service.rows()
                complaint = _complaint(answer, field, valid, before == self.service.rows())
                complaints += [f'{version} {field} {name}: {complaint}'] if complaint else []
        self.assertEqual('', '\n'.join(complaints))

    def check_change(self, kind: kinds.Kind) -> None:
        """Change each field of a booked lease to something wrong."""
        requests = self.prepare(kind)
        answer = self.send('POST', '/v1/leases', self.body(requests), '1.0')
        self.assertEqual(201, answer.status_int, answer.text)
        lease = answer.json['lease']
        # Parts of what was asked for come before it.
        kinds_of = [item['resource_type'] for item in lease['reservations']]
        asked = lease['reservations'][kinds_of.index(requests[0]['resource_type'])]
        before = self.service.rows()
        complaints = []
        for version in ('1.0', '1.2'):
            for field, name, value in self.wrongs(requests):
                if value is wrong.MISSING:
                    continue
                line = {'id': asked['id'], field: value}
                path = f'/v1/leases/{lease["id"]}'
                answer = self.send('PUT', path, {'reservations': [line]}, version)
                valid = value is None or self.valid(requests, field, value, required=False)
                same = before == self.service.rows()
                before = self.service.rows() if answer.status_int < 300 else before
                complaint = _complaint(answer, field, valid, same)
                complaints += [f'{version} {field} {name}: {complaint}'] if complaint else []
        self.assertEqual('', '\n'.join(complaints))

    def wrongs(self, requests: list[dict[str, Any]]) -> Iterator[tuple[str, str, Any]]:
        """Yield every field with every value."""
        for field in sorted(set(self.schema(requests)['properties']) - _COMMON):
            for name, value in wrong.WRONG.items():
                if value is not wrong.MISSING or field in requests[0]:
                    yield field, name, value

    def schema(self, requests: list[dict[str, Any]]) -> Any:
        """Return what the type says of its reservations."""
        return self.service.plugins[requests[0]['resource_type']].request_schema

    def valid(self, requests: list[dict[str, Any]], field: str, value: Any, required: bool) -> bool:
        """Whether the schema lets a field be that."""
        schema = self.schema(requests)
        if value is wrong.MISSING:
            return not (required and field in schema['required'])
        validator = jsonschema.Draft202012Validator(schema['properties'][field])
        return bool(validator.is_valid(value))


def _complaint(answer: Any, field: str, valid: bool, same: bool) -> str:
    """Return what is wrong with *answer*; '' if nothing."""
    if answer.status_int >= 500:
        return f'{answer.status_int} {answer.text[:200]}'
    if answer.status_int < 400:
        return '' if valid else f'{answer.status_int}'
    if answer.content_type != 'application/json':
        return f'no JSON: {answer.text[:100]}'
    if not same:
        return f'{answer.status_int}, but rows were changed'
    text = answer.json['error_message']
    if valid or any(word in text for word in (field, _CALLED.get(field, field))):
        return ''
    return f'{answer.status_int} does not name it: {text[:200]}'


for _name, _kind in kinds.KINDS.items():
    _words = _name.replace(':', '_').replace(' ', '_')
    setattr(TestFields, f'test_create_{_words}', lambda self, kind=_kind: self.check_creation(kind))
    setattr(TestFields, f'test_change_{_words}', lambda self, kind=_kind: self.check_change(kind))
