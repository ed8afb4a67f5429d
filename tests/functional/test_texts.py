# SPDX-License-Identifier: Apache-2.0

"""Every text of every body and query: what a terminal would obey is refused.

The fields come from the OpenAPI document, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema

from climate.api.http import microversions
from climate.api.http import texts
from tests import openapi
from tests.functional import http
from tests.functional.fixtures import ServiceCase

ESCAPE = '\x1b]0;owned\x07'
REVERSED = 'gpj\u202etxt'
CONTROLS = 'control characters are not allowed'
DIRECTIONS = 'characters that change the direction of text are not allowed'
# Only programs read these. A field that is added here needs a reason.
PROGRAMS = {'user_data', 'template', 'environment', 'files', 'parameters'}
# These may have several lines, but no other control characters.
LINES = {
    'network_description',
    'metadata',
    'resource_properties',
    'network_properties',
    'hypervisor_properties',
}
ANY = '<any>'
_DEEPEST = 12

Path = tuple[str | int, ...]


def fields(document: Any, schema: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the paths of the texts of a body, with their schemas; 0 is the first item of a list."""
    if not isinstance(schema, dict) or len(path) > _DEEPEST:
        return
    name = schema.get('$ref', '').rpartition('/')[2]
    # An expression has expressions in it.
    if name and name != 'Requirement':
        yield from fields(document, document['components']['schemas'][name], path)
    kinds = schema.get('type', 'string' if 'enum' in schema else ())
    if 'string' in ([kinds] if isinstance(kinds, str) else kinds):
        yield path, schema
    more = schema.get('additionalProperties')
    if (isinstance(more, dict) and not more.keys() & {'$ref', 'anyOf'}) or (
        kinds == 'object' and more is None and not name
    ):
        yield (*path, ANY), more or {}
    for below, each in parts(schema):
        yield from fields(document, each, (*path, *below))


def parts(schema: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the schemas in a schema, with their paths."""
    for word in ('anyOf', 'oneOf', 'allOf'):
        yield from (((), each) for each in schema.get(word, ()))
    yield from (((name,), each) for name, each in schema.get('properties', {}).items())
    yield (ANY,), schema.get('additionalProperties')
    yield from (((0,), each) for each in (schema.get('items'), *schema.get('prefixItems', ())))


def body(path: Path, text: str) -> Any:
    """Return the smallest body with a text in a field."""
    if not path:
        return text
    first, *rest = path
    inner = body(tuple(rest), text)
    return [inner] if first == 0 else {str(first): inner}


def kind(path: Path) -> set[str]:
    """Return the names of a field and of the objects around it."""
    return {str(part) for part in path}


class TestTexts(ServiceCase):
    """Bodies and queries with control characters, and with those that change directions."""

    def answer(self, method: str, path: str, sent: Any, version: str) -> Any:
        ids = '11111111-2222-3333-4444-555555555555'
        for word in ('lease_id', 'maintenance_id', 'webhook_id', 'offer_id', 'feed_id'):
            path = path.replace(f'{{{word}}}', ids)
        for word in ('host_id', 'resource_id', 'floatingip_id'):
            path = path.replace(f'{{{word}}}', '1')
        path = path.replace('{type_name}', 'custom:rack').replace('{property_name}', 'rack')
        return http.send(self.service.app, method, path, sent, version=version)

    def described(
        self, version: microversions.Microversion
    ) -> Iterator[tuple[str, str, list[tuple[Path, Any]]]]:
        document = openapi.at(version).document
        for path, item in document['paths'].items():
            for method, operation in item.items():
                if isinstance(operation, dict) and 'requestBody' in operation:
                    schema = operation['requestBody']['content']['application/json']['schema']
                    yield method.upper(), path, list(fields(document, schema))

    def bodies(self, version: microversions.Microversion) -> Iterator[tuple[str, str, Path]]:
        seen = set[Path]()
        for method, path, found in self.described(version):
            # The fields of reservations are the same in several bodies.
            for number, field in enumerate(sorted({field for field, _ in found}, key=str)):
                if number < 3 or field not in seen:
                    yield method, path, field
                seen.add(field)

    def check(self, version: microversions.Microversion) -> int:
        wrong, number = [], 0
        for method, path, field in self.bodies(version):
            number += 1
            where = f'/v1{path}' if not path.startswith('/v1') else path
            for text, reason in ((ESCAPE, CONTROLS), (REVERSED, DIRECTIONS), ('a\nb', CONTROLS)):
                free = bool(kind(field) & PROGRAMS) or (
                    text == 'a\nb' and bool(kind(field) & LINES)
                )
                answer = self.answer(method, where, body(field, text), str(version))
                refused = answer.status_int == 400 and reason in answer.json['error_message']
                if refused == free:
                    wrong.append((method, path, field, text, answer.text[:200]))
                self.assertNotIn(text, answer.json['error_message'])
        self.assertEqual([], wrong)
        return number

    def test_every_text_of_every_body(self) -> None:
        self.assertGreater(self.check(microversions.MAX), 100)

    def test_at_the_first_microversion(self) -> None:
        self.assertGreater(self.check(microversions.MIN), 10)

    def test_schemas_refuse_what_the_api_refuses(self) -> None:
        """Each text of each body, at the first and the last microversion."""
        checked: dict[tuple[str, bool, bool], list[str]] = {}
        for version in (microversions.MIN, microversions.MAX):
            for method, path, found in self.described(version):
                for field, schema in found:
                    lines, programs = (bool(kind(field) & them) for them in (LINES, PROGRAMS))
                    key = (json.dumps(schema), lines or ANY in field, programs or ANY in field)
                    checked.setdefault(key, []).append(f'{method} {path} {field}')
        self.assertGreater(len(checked), 40)
        for (schema, lines, programs), where in checked.items():
            texts = ['a\x00']
            texts += [] if programs else [ESCAPE, REVERSED]
            texts += [] if programs or lines else ['a\nb']
            validator = jsonschema.Draft202012Validator(json.loads(schema))
            taken = [text for text in texts if validator.is_valid(text)]
            self.assertEqual([], taken, f'{where}: {schema}')

    def test_every_name_in_a_body(self) -> None:
        for name in (ESCAPE, REVERSED, 'a\nb'):
            for sent in ({name: 1}, {'reservations': [{name: 1}]}, {'properties': {name: '1'}}):
                answer = http.expect(400, self.answer('POST', '/v1/leases', sent, '1.0'))
                message = answer.json['error_message']
                self.assertIn('the name of', message)
                self.assertIn(DIRECTIONS if name == REVERSED else CONTROLS, message)
                self.assertNotIn(name, message)

    def test_every_query(self) -> None:
        """A parameter is refused wherever it is, known or not."""
        document = openapi.at(microversions.MAX).document
        for path, item in document['paths'].items():
            if 'get' not in item:
                continue
            names = [
                one['name'] for one in item['get'].get('parameters', ()) if one.get('in') == 'query'
            ]
            for name in [*names, 'unknown']:
                for text in ('%1b%5b2J', '%e2%80%ae', 'a%0ab'):
                    http.expect(400, self.answer('GET', f'/v1{path}?{name}={text}', None, '1.5'))

    def test_those_that_programs_read(self) -> None:
        """The lists of exceptions here are those of the resource types."""
        found = texts.of_leases(self.service.plugins)['reservations']
        self.assertLessEqual(set(found), PROGRAMS | LINES)
