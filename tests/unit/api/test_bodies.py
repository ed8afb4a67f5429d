# SPDX-License-Identifier: Apache-2.0

"""Bodies that can and cannot be read."""

from __future__ import annotations

import json
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from climate import exceptions
from climate.api.http import bodies
from tests import base


def read(raw, content_type='application/json'):
    """Read *raw* as the body of a request."""
    return bodies.read({bodies.ENVIRON_KEY: raw, 'CONTENT_TYPE': content_type})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


class BodiesTest(base.TestCase):
    """What is read, and what is refused."""

    def test_an_object(self):
        self.assertEqual({'a': [1, 'ü']}, read('{"a": [1, "ü"]}'.encode()))

    def test_content_types(self):
        for kind in ('', None, 'application/json; charset=UTF-8', 'application/vnd.x+json'):
            self.assertEqual({}, read(b'{}', kind))
        for kind in ('text/plain', 'application/x-www-form-urlencoded', 'json'):
            self.assertRaises(exceptions.UnsupportedMediaType, read, b'{}', kind)

    def test_refused(self):
        for raw in (
            b'', b'  ', b'[]', b'[{}]', b'null', b'7', b'"x"', b'{', b'{"a":}', b"{'a': 1}",
            b'\xff\xfe', b'{"a": "\xff"}', b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 1e999}',
            b'{"a": "\\u0000"}', b'{"\\u0000": 1}', b'{"a": "\\ud800"}',
            b'{"a": [{"b\\ud800": 1}]}',
            b'{"a": 9223372036854775808}', b'{"a": ' + b'9' * 5000 + b'}',
            b'{"a": ' + b'[' * 100000, b'{"a": ' + b'[' * 40 + b']' * 40 + b'}',
        ):  # fmt: skip
            error = self.assertRaises(exceptions.InvalidInput, read, raw)
            # Whatever it was, the answer itself can be written and read.
            json.dumps(error.message).encode('utf-8')

    def test_says_where(self):
        self.assert_error(
            exceptions.MalformedParameter, 'a[0].b', read, b'{"a": [{"b": "x\\u0000y"}]}'
        )

    def test_long_names_are_written_once(self):
        body = {'x' * 50_000: [1] * 20_000}
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.assertEqual(body, read(json.dumps(body).encode()))
        self.assertLess(tracemalloc.get_traced_memory()[1], 20_000_000)

    @given(st.binary())
    def test_any_bytes(self, raw):
        try:
            self.assertIsInstance(read(raw), dict)
        except exceptions.InvalidInput as error:
            self.assertEqual(400, error.code)

    @given(st.dictionaries(st.text(), json_values))
    def test_any_json(self, value):
        try:
            read(json.dumps(value).encode())
        except exceptions.InvalidInput as error:
            self.assertEqual(400, error.code)
