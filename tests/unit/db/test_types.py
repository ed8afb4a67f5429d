# SPDX-License-Identifier: Apache-2.0
"""Conversions of values from the database."""

from __future__ import annotations

import datetime

from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects import sqlite

from climate.db.schema import types
from tests import base

AWARE = datetime.datetime(2030, 1, 2, 3, 4, 5, 600000, tzinfo=datetime.UTC)


class TestInstants(base.TestCase):
    """:class:`climate.db.schema.types.UtcDateTime` and what it remembers."""

    def test_each_way_to_write_an_instant(self) -> None:
        for text in ('2030-01-02 03:04:05.600000', '2030-01-02T03:04:05.6'):
            self.assertEqual(AWARE, types.stored_instant(text))
        self.assertIsNone(types.stored_instant(None))

    def test_what_was_converted_is_not_converted_again(self) -> None:
        for dialect, stored in (
            (sqlite.dialect(), '2030-01-02 03:04:05.600000'),
            (postgresql.dialect(), AWARE.replace(tzinfo=None)),
        ):
            convert = types.UtcDateTime().result_processor(dialect, None)
            first = convert(stored)
            self.assertEqual(AWARE, first)
            self.assertIs(datetime.UTC, first.tzinfo)
            self.assertIs(first, convert(stored))

    def test_an_instant_without_a_zone_is_refused(self) -> None:
        for dialect in (sqlite.dialect(), postgresql.dialect()):
            prepare = types.UtcDateTime().bind_processor(dialect)
            self.assertRaises(ValueError, prepare, AWARE.replace(tzinfo=None))

    def test_an_empty_object_is_new_each_time(self) -> None:
        """A caller that changes one does not change those of others."""
        parse = types.JsonDict().result_processor(sqlite.dialect(), None)
        self.assertEqual({}, parse('{}'))
        self.assertIsNot(parse('{}'), parse('{}'))

    def test_only_objects_are_written(self) -> None:
        write = types.JsonDict().bind_processor(sqlite.dialect())
        self.assertEqual('{"a": [1]}', write({'a': [1]}))
        self.assertEqual(['{}', '{}'], [write(value) for value in (None, {})])
        for value in ([], '', 0, False):
            self.assertRaises(TypeError, write, value)
