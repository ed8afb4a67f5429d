# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from climate import exceptions
from climate.api.routing import idempotency_keys
from tests import base

KEYS = {
    'k': 'k',
    '"k"': 'k',
    '  "8e03978e-40d5-43e8-bc93-6894a57f9324" ': '8e03978e-40d5-43e8-bc93-6894a57f9324',
    'two words': 'two words',
    'a,b;c=d': 'a,b;c=d',
    r'"a \\ and a \""': r'a \ and a "',
    'a"b': 'a"b',
    'x' * 255: 'x' * 255,
    f'"{"x" * 255}"': 'x' * 255,
}
MALFORMED = (
    '',
    ' ',
    '""',
    '"',
    '"a',
    '"a" b',
    '"a"b"',
    r'"a\b"',
    r'"a\"',
    'x' * 256,
    f'"{"x" * 256}"',
    'ä',
    '"ä"',
    'a\tb',
    'a\nb',
    'a\x00',
    'a\x7f',
)


class HeaderTest(base.TestCase):
    """Idempotency-Key: a string of RFC 8941, or a bare text."""

    def test_keys(self) -> None:
        self.assertEqual(KEYS, {text: idempotency_keys.read(text) for text in KEYS})

    def test_malformed(self) -> None:
        for text in MALFORMED:
            error = self.assertRaises(exceptions.MalformedParameter, idempotency_keys.read, text)
            self.assertIn('Idempotency-Key', error.message)
