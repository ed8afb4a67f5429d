# SPDX-License-Identifier: Apache-2.0

"""Compressed responses."""

from __future__ import annotations

import gzip

from climate.api.http import encodings
from tests.base import TestCase


class TestEncodings(TestCase):
    """What clients accept, and what they get."""

    def test_who_accepts_gzip(self) -> None:
        for text in (
            'gzip',
            'GZIP',
            'deflate, gzip;q=0.5, br',
            'x-gzip',
            'gzip ; q=1.000',
            'a,gzip',
        ):
            self.assertTrue(encodings.accepts_gzip({'HTTP_ACCEPT_ENCODING': text}), text)
        for text in ('', 'br', 'gzip;q=0', 'gzip; q=0.000', 'gzipped', 'identity', 'not gzip', ','):
            self.assertFalse(encodings.accepts_gzip({'HTTP_ACCEPT_ENCODING': text}), text)
        self.assertFalse(encodings.accepts_gzip({}))

    def test_the_bytes_come_back(self) -> None:
        body = b'{"a": 1}' * 10_000
        packed = encodings.compressed(body)
        self.assertEqual(body, gzip.decompress(packed))
        self.assertEqual(packed, encodings.compressed(body))
        parts = [body[at : at + 999] for at in range(0, len(body), 999)]
        self.assertEqual(body, gzip.decompress(b''.join(encodings.compressed_parts(parts))))

    def test_a_body_that_ends_early_is_closed(self) -> None:
        closed = []

        def parts():
            try:
                yield b'x' * 100_000
                yield b'y'
            finally:
                closed.append(True)

        found = encodings.compressed_parts(parts())
        next(found)
        found.close()
        self.assertEqual([True], closed)
