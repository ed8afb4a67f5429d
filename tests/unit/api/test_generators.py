# SPDX-License-Identifier: Apache-2.0

"""What generators of clients cannot read is not in the OpenAPI document.

openapi-python-client, for example, leaves out the operations that have any of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from climate.api.http import json_schema
from climate.api.openapi import characters
from climate.api.openapi import generators
from tests import base
from tests import openapi

CONDITIONS = {'if', 'then', 'else', 'not'}


def parts(schema: Any, path: str = '') -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each object of a schema with its path, except conditions on other fields."""
    if isinstance(schema, dict):
        yield path, schema
        for key, value in schema.items():
            if key not in CONDITIONS:
                yield from parts(value, f'{path}/{key}')
    elif isinstance(schema, list):
        for place, one in enumerate(schema):
            yield from parts(one, f'{path}/{place}')


class GeneratorsTest(base.TestCase):
    """The document of the newest microversion."""

    def setUp(self) -> None:
        super().setUp()
        self.document = openapi.at().document

    def test_no_header_has_a_constant(self) -> None:
        headers = [
            one for _, one in parts(self.document) if one.get('in') == 'header' and 'schema' in one
        ]
        self.assertIn('OpenStack-API-Version', [one['name'] for one in headers])
        for one in headers:
            self.assertEqual('string', one['schema']['type'], one['name'])
            self.assertNotIn('const', one['schema'], one['name'])

    def test_values_are_plain(self) -> None:
        for path, one in parts(self.document['components']['schemas']):
            self.assertNotIsInstance(one.get('default'), dict | list, path)
            values = one.get('enum')
            if isinstance(values, list):
                self.assertFalse([each for each in values if isinstance(each, dict | list)], path)

    def test_no_component_has_itself(self) -> None:
        components = self.document['components']['schemas']
        for name in components:
            found, left = set(), {name}
            while left:
                further = json_schema.references(components[left.pop()])
                left |= further - found
                found |= further
            self.assertNotIn(name, found)

    def test_what_is_simpler(self) -> None:
        self.assertEqual(
            {
                'type': 'array',
                'items': {'type': 'string', 'enum': ['delete', 'detach']},
                'maxItems': 2,
                'uniqueItems': True,
            },
            generators.simpler({'enum': [[], ['delete'], ['detach', 'delete']], 'default': []}),
        )
        tree = {'type': 'array', 'items': json_schema.ref('Tree')}
        found = generators.simpler(tree, 'Tree')
        self.assertEqual({'type': 'array', 'items': characters.any_value()}, found)
        self.assertEqual(tree, generators.simpler(tree, 'Other'))
        condition = {'if': {'enum': [[]]}}
        self.assertEqual(condition, generators.simpler(condition))
