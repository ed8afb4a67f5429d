# SPDX-License-Identifier: Apache-2.0

"""What was made a moment ago: a cloud that does not show it yet, and what errors about it mean."""

from __future__ import annotations

import datetime

from climate import exceptions
from climate.clock import ManualClock
from climate.cloud import just_made
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Flavor
from climate.cloud.just_made import JustMade
from climate.simulator import SimulatedCloud
from tests import base
from tests.narrowing import present

NOW = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)
FLAVOR = Flavor(id='r-1', name='r-1', vcpus=1, memory_mb=1, disk_gb=1, public=False)


class TestJustMade(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock(NOW)
        self.cloud = self.closing(SimulatedCloud(':memory:', clock=self.clock))
        self.cloud.show_late(5)

    def test_it_is_shown_after_a_while(self) -> None:
        compute = self.cloud.compute
        made = compute.create_aggregate('a', None)
        compute.create_flavor(FLAVOR)
        self.assertEqual((None, None), (compute.find_aggregate('a'), compute.find_flavor('r-1')))
        self.assertEqual(((), ()), (compute.list_aggregates(), compute.list_flavors()))
        self.assertRaises(CloudNotFound, compute.list_flavor_access, 'r-1')
        # Who changes it finds it.
        compute.set_aggregate_metadata(made.id, {'x': 'y'})
        self.assertRaises(CloudConflict, compute.create_flavor, FLAVOR)
        self.clock.advance(6)
        self.assertEqual({'x': 'y'}, present(compute.find_aggregate('a')).metadata)
        self.assertEqual(frozenset(), compute.list_flavor_access('r-1'))

    def test_it_is_shown_at_once_after_healing(self) -> None:
        self.cloud.compute.create_aggregate('a', None)
        self.cloud.heal()
        self.assertIsNotNone(self.cloud.compute.find_aggregate('a'))
        self.cloud.compute.create_aggregate('b', None)
        self.assertEqual(2, len(self.cloud.compute.list_aggregates()))

    def test_what_errors_mean(self) -> None:
        cloud = JustMade(self.cloud, {'r-1'})
        cloud.compute.create_flavor(FLAVOR)
        for call, arguments, temporary in (
            # It is the flavor of the reservation.
            (cloud.compute.list_flavor_access, ('r-1',), True),
            (cloud.compute.create_flavor, (FLAVOR,), True),
            (cloud.compute.add_flavor_access, ('other', 'p'), False),
            (cloud.compute.set_aggregate_metadata, (99, {'a': 'b'}), False),
        ):
            error = self.assertRaises(exceptions.Permanent, call, *arguments)
            found = just_made.temporary(error)
            self.assertEqual(temporary, isinstance(found, exceptions.Transient), arguments)
            # Also if a plugin raises another error because of it.
            other = exceptions.Permanent('it cannot start')
            other.__cause__ = error
            found = just_made.temporary(other)
            self.assertEqual(temporary, isinstance(found, exceptions.Transient), arguments)

    def test_what_an_effect_has_made_itself(self) -> None:
        cloud = JustMade(self.cloud, ())
        self.cloud.heal()
        made = cloud.compute.create_aggregate('a', None)
        self.cloud.compute.delete_aggregate(made.id)
        error = self.assertRaises(
            CloudNotFound, cloud.compute.set_aggregate_metadata, made.id, {'a': 'b'}
        )
        self.assertIsInstance(just_made.temporary(error), exceptions.Transient)
