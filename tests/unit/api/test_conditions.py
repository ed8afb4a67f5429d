# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from typing import Any

from climate import exceptions
from climate.api.http import conditions
from climate.api.http.conditions import Conditions
from climate.api.http.microversions import V1_3
from climate.api.http.microversions import V1_4
from tests import base

LISTS = {
    '"a"': {'"a"'},
    ' "a" , "b"': {'"a"', '"b"'},
    '"a",,"b",': {'"a"', '"b"'},
    ',"a"': {'"a"'},
    'W/"a", "b"': {'W/"a"', '"b"'},
    '""': {'""'},
    '"a,b"': {'"a,b"'},
    '"*"': {'"*"'},
    '"\xe4"': {'"\xe4"'},
    ' * ': {'*'},
}
MALFORMED = ('', ' ', 'a', '"a', 'a"', '"a" "b"', '*, "a"', '**', 'w/"a"', 'W/a', '"a b"', ',')


def read(**headers: str) -> Conditions:
    """Return the conditions of a request with these headers at the newest microversion."""
    return conditions.read({f'HTTP_{name}': text for name, text in headers.items()}, V1_4)


class ReadTest(base.TestCase):
    """What the headers say."""

    def test_lists(self) -> None:
        self.assertEqual(LISTS, {text: read(IF_MATCH=text).match for text in LISTS})

    def test_malformed(self) -> None:
        for header, name in (('IF_MATCH', 'If-Match'), ('IF_NONE_MATCH', 'If-None-Match')):
            for text in MALFORMED:
                error = self.assertRaises(exceptions.MalformedParameter, self.read, header, text)
                self.assertIn(f'{name}:', error.message)

    def read(self, header: str, text: str) -> Any:
        return read(**{header: text})

    def test_long_headers_are_read_fast(self) -> None:
        for text in ('"a",' * 20000 + 'b', ',' * 60000, ' ' * 60000, '"' * 60000):
            self.assertRaises(exceptions.MalformedParameter, self.read, 'IF_MATCH', text)

    def test_none(self) -> None:
        self.assertFalse(read())
        self.assertTrue(read(IF_MATCH='*'))
        self.assertTrue(read(IF_NONE_MATCH='*'))

    def test_older_microversions_ignore_them(self) -> None:
        self.assertFalse(conditions.read({'HTTP_IF_MATCH': 'nonsense'}, V1_3))


class CheckTest(base.TestCase):
    """What is allowed."""

    def refused(self, tag: str, **headers: str) -> str | None:
        """Return the header that forbids a change; None if none does."""
        try:
            read(**headers).check(tag)
        except exceptions.PreconditionFailed as error:
            self.assertIn(tag, error.message)
            return str(error.facts['header'])
        return None

    def test_if_match(self) -> None:
        self.assertIsNone(self.refused('"a"', IF_MATCH='"b", "a"'))
        self.assertIsNone(self.refused('"a"', IF_MATCH='*'))
        self.assertEqual('If-Match', self.refused('"a"', IF_MATCH='"b"'))
        # The comparison is strong.
        self.assertEqual('If-Match', self.refused('"a"', IF_MATCH='W/"a"'))

    def test_if_none_match(self) -> None:
        self.assertIsNone(self.refused('"a"', IF_NONE_MATCH='"b"'))
        self.assertEqual('If-None-Match', self.refused('"a"', IF_NONE_MATCH='W/"a"'))
        self.assertEqual('If-None-Match', self.refused('"a"', IF_NONE_MATCH='*'))

    def test_what_the_client_has(self) -> None:
        self.assertTrue(read(IF_NONE_MATCH='"b", W/"a"').knows('"a"'))
        self.assertTrue(read(IF_NONE_MATCH='*').knows('"a"'))
        self.assertFalse(read(IF_NONE_MATCH='"b"').knows('"a"'))
        self.assertFalse(read(IF_MATCH='"a"').knows('"a"'))

    def test_tags_differ_between_microversions(self) -> None:
        body = conditions.written({'lease': {}})
        self.assertEqual(conditions.tag(body, V1_4), conditions.tag(body, V1_4))
        self.assertNotEqual(conditions.tag(body, V1_4), conditions.tag(body, V1_3))
