# SPDX-License-Identifier: Apache-2.0

"""Query parameters."""

from __future__ import annotations

import datetime

from climate import exceptions
from climate.api.http import queries
from climate.api.http.microversions import V1_0
from climate.api.http.microversions import V1_1
from tests import base

NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
MARKER = '11111111-2222-3333-4444-555555555555'


def leases(text, version=V1_1, project_id='p'):
    """Return the query that *text* stands for."""
    return queries.leases(
        queries.parse(text), version, project_id=project_id, caller_id='me', now=NOW, max_limit=100
    )


class LeaseQueriesTest(base.TestCase):
    """Which leases are asked for."""

    def test_1_0_ignores_everything(self):
        query = leases('status=nonsense&limit=x&foo=bar', V1_0)
        self.assertEqual(('p', None, None), (query.project_id, query.status, query.limit))

    def test_filters(self):
        query = leases(
            'status=active&name=a%20b&resource_type=physical:host&start_after=2030-01-01T00:00:00Z'
            '&end_before=2030-01-01T02:00:00+02:00'
        )
        self.assertEqual('ACTIVE', query.status)
        self.assert_has(
            query, name='a b', resource_type='physical:host', start_after=NOW, end_before=NOW
        )

    def test_sort(self):
        self.assertEqual((), leases('').sort)
        self.assertEqual((('name', 'asc'),), leases('sort_key=name').sort)
        found = leases('sort_key=name&sort_dir=desc&sort_key=id').sort
        self.assertEqual((('name', 'desc'), ('id', 'asc')), found)
        self.assertEqual((('created_at', 'desc'),), leases('sort_dir=desc').sort)

    def test_limit_and_marker(self):
        self.assertEqual(100, leases('').limit)
        self.assertEqual(7, leases('limit=7').limit)
        self.assertEqual(100, leases('limit=101').limit)
        self.assertEqual(MARKER, leases(f'marker={MARKER}').marker)

    def test_refused(self):
        for text, field in (
            ('foo=1', 'foo'), ('limit=0', 'limit'), ('limit=-1', 'limit'), ('limit=x', 'limit'),
            ('limit=1&limit=2', 'limit'), ('limit=' + '9' * 30, 'limit'), ('marker=x', 'marker'),
            ('sort_key=secret', 'sort_key'), ('sort_dir=up', 'sort_dir'),
            ('sort_key=id&sort_dir=asc&sort_dir=asc', 'sort_dir'),
            ('sort_key=id&sort_key=id', 'sort_key'), ('status=x', 'status'),
            ('start_after=x', 'start_after'), ('name=' + 'x' * 256, 'name'),
        ):  # fmt: skip
            self.assertIn(field, self.assertRaises(exceptions.InvalidInput, leases, text).message)

    def test_next_page(self):
        parameters = queries.parse('limit=2&name=a%26b&marker=old')
        found = queries.next_page('http://h/v1/leases', parameters, 'new')
        self.assertEqual('http://h/v1/leases?limit=2&name=a%26b&marker=new', found)


class ParseTest(base.TestCase):
    """Query strings."""

    def test_refused(self):
        for text in ('a=%ff', '%ff=1', 'a=%00', '&'.join(f'a{i}=1' for i in range(200))):
            self.assertRaises(exceptions.InvalidInput, queries.parse, text)

    def test_flags(self):
        parameters = queries.parse('detail=True&all=true&none=&off=False')
        self.assertIs(True, queries.flag(parameters, 'detail'))
        self.assertIs(True, queries.flag(parameters, 'all'))
        for key in ('none', 'off', 'missing'):
            self.assertIs(False, queries.flag(parameters, key))
