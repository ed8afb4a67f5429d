# SPDX-License-Identifier: Apache-2.0
"""Cases in which more was promised than there is, found by what test_capacity draws."""

from __future__ import annotations

import datetime

from climate import exceptions
from tests import base
from tests.functional.manager import harness
from tests.functional.manager import sweep
from tests.functional.manager import yard


class TestPromises(base.TestCase):
    """A yard with one small host: 7 VCPU can be given away."""

    def setUp(self) -> None:
        super().setUp()
        self.yard = self.useFixture(yard.Yard(yard.SETTINGS, hosts=1))

    def assert_enough(self) -> None:
        """Nothing is promised twice."""
        rows = self.yard.rows()
        self.assertIsNone(sweep.trouble(rows, self.yard.capacity, datetime.timedelta(0)))

    def test_what_is_to_go_is_not_promised_for_longer(self) -> None:
        lease = self.yard.book(0, 100, [yard.parts(7)])
        self.yard.book(100, 200, [yard.parts(4)])
        self.yard.until(10)
        # Three would fit until 150; but if the cloud refused, seven would stay.
        fewer = {0: {'min': 3, 'max': 3}}
        self.assertRaises(exceptions.NotEnoughResources, self.yard.change, lease, fewer, end=150)
        self.yard.change(lease, fewer)
        self.assert_enough()
        self.yard.until(11)
        self.yard.change(lease, {}, end=150)
        self.assert_enough()

    def test_what_is_to_go_is_not_promised_to_another_line(self) -> None:
        lease = self.yard.book(0, 100, [yard.parts(5), yard.parts(2)])
        self.yard.until(10)
        swapped = {0: {'min': 2, 'max': 2}, 1: {'min': 5, 'max': 5}}
        self.assertRaises(exceptions.NotEnoughResources, self.yard.change, lease, swapped)
        self.assert_enough()


class TestShrinks(base.TestCase):
    """A yard with two hosts."""

    def test_a_host_can_be_let_go_and_the_lease_shortened_at_once(self) -> None:
        found = self.useFixture(yard.Yard(yard.SETTINGS, hosts=2))
        lease = found.book(0, 100, [yard.parts(10)])
        found.until(10)
        found.change(lease, {0: {'min': 2, 'max': 2}}, end=60)
        end = harness.at(60).replace(tzinfo=None)
        # The host that is to go is the lease's until the cloud has followed.
        self.assertEqual({(1, end), (2, end)}, {(row.resource_id, row.end) for row in found.rows()})
        found.until(12)
        self.assertEqual(1, len({row.resource_id for row in found.rows() if row.state == 'held'}))
