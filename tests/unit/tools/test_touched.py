# SPDX-License-Identifier: Apache-2.0

"""What is walked through because its code was changed."""

from __future__ import annotations

from tests import base
from tests.exhaustive import types
from tests.functional import declared
from tests.functional.manager.walk import kinds
from tools.lanes import touched


class TouchedTest(base.TestCase):
    """From changed files to tests."""

    def setUp(self) -> None:
        super().setUp()
        self.code = touched.code()

    def test_each_kind_of_the_walk_says_what_it_books(self) -> None:
        words = {name.replace(':', '_').replace(' ', '_') for name in kinds.KINDS}
        self.assertEqual(words, set(types.OF_KINDS))
        booked = {name for names in types.OF_KINDS.values() for name in names}
        self.assertEqual({*declared.places(), types.DECLARED}, booked)
        self.assertEqual(booked, set(self.code))

    def test_what_one_type_only_imports(self) -> None:
        paths = ['climate/plugins/network/plugin.py', 'README.rst']
        self.assertEqual({'network'}, touched.touched(paths, self.code))

    def test_what_is_imported_by_what_is_imported(self) -> None:
        found = touched.touched(['climate/plugins/host/sweep.py'], self.code)
        self.assertIn('physical:host', found)
        self.assertNotIn('network', found)

    def test_what_all_import(self) -> None:
        found = touched.touched(['climate/plugins/contract.py'], self.code)
        self.assertEqual(set(self.code), found)

    def test_their_tests(self) -> None:
        ids = [
            'tests.exhaustive.test_walk.TestWalk.test_physical_host_start',
            'tests.exhaustive.test_walk.TestWalk.test_physical_host',
            'tests.exhaustive.test_walk.TestWalk.test_several_end',
            'tests.exhaustive.test_walk.TestWalk.test_network_start',
            'tests.exhaustive.test_walk.TestWalk.test_physical_hosts_start',
        ]
        self.assertEqual(ids[:3], touched.tests_of({'physical:host'}, ids))
        self.assertEqual([], touched.tests_of(set(), ids))

    def test_since_when(self) -> None:
        self.assertRegex(touched.base(touched.architecture.ROOT), '^[0-9a-f]{40}$|^$')

    def test_what_many_types_share_is_left_to_the_parts(self) -> None:
        ids = ['tests.exhaustive.test_walk.TestWalk.test_physical_host_start']
        self.assertEqual([], touched.tests_of(set(self.code), ids))
