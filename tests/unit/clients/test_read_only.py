# SPDX-License-Identifier: Apache-2.0

"""A rehearsal of changes changes nothing."""

from __future__ import annotations

from climate.clock import SystemClock
from climate.cloud import read_only
from climate.simulator import SimulatedCloud
from climate.simulator import VERBS
from tests import base
from tests.narrowing import present

CHANGES = (
    'add',
    'allow',
    'attach',
    'create',
    'delete',
    'describe',
    'detach',
    'disable',
    'enable',
    'forbid',
    'give',
    'offload',
    'remove',
    'resume',
    'set',
    'shelve',
    'snapshot',
    'start',
    'stop',
    'suspend',
    'unshelve',
    'update',
)


class TestRehearsal(base.TestCase):
    """What is passed on, noted and withheld."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = self.closing(SimulatedCloud(':memory:', clock=SystemClock()))
        self.cloud.seed(2)
        self.rehearsed = read_only.ReadOnlyCloud(self.cloud)

    def test_every_verb_is_known_to_look_or_to_change(self) -> None:
        for verb in VERBS:
            changes = verb.partition('.')[2].split('_')[0] in CHANGES
            self.assertNotEqual(changes, read_only.is_read_only(verb), verb)
            self.assertIn(verb, read_only._returns_nothing())

    def test_looking_is_as_ever(self) -> None:
        pool = self.rehearsed.compute.find_aggregate('freepool')
        self.assertEqual(self.cloud.compute.find_aggregate('freepool'), pool)
        self.assertEqual([], self.rehearsed.calls)

    def test_what_answers_nothing_is_passed_over(self) -> None:
        pool = present(self.cloud.compute.find_aggregate('freepool'))
        self.rehearsed.compute.add_host(pool.id, 'compute-1')
        self.rehearsed.compute.delete_server(server_id='x')
        self.assertEqual(
            [f"compute.add_host({pool.id}, 'compute-1')", "compute.delete_server(server_id='x')"],
            self.rehearsed.calls,
        )
        self.assertEqual(pool, self.cloud.compute.find_aggregate('freepool'))

    def test_what_is_gone_by_is_withheld(self) -> None:
        self.assertRaises(read_only.WouldChange, self.rehearsed.compute.create_aggregate, 'a', None)
        self.assertEqual(["compute.create_aggregate('a', None)"], self.rehearsed.calls)
        self.assertIsNone(self.cloud.compute.find_aggregate('a'))

    def test_in_the_name_of_others_too(self) -> None:
        self.rehearsed.acting_for('trust').compute.delete_server('x')
        self.rehearsed.of_caller('token').network.delete_network('y')
        self.rehearsed.of_caller('token').as_service().network.delete_network('z')
        self.assertEqual(3, len(self.rehearsed.calls))
