# SPDX-License-Identifier: Apache-2.0

"""The requests of reservations of a flavor, and what its servers need."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.clock import ManualClock
from climate.cloud.base import Flavor
from climate.domain.leases import Reservation
from climate.plugins.instance import demand
from climate.plugins.instance.by_flavor import FlavorInstance
from climate.plugins.instance.by_flavor import FlavorRequest
from climate.simulator import SimulatedCloud
from tests import base
from tests.unit.plugins.effect_runners import NOW
from tests.unit.plugins.instance_effect_runner import SOURCE

PLUGIN = FlavorInstance()
TYPE = 'flavor:instance'

names = st.text('ABCDEF_', min_size=1, max_size=5)
specs = st.dictionaries(
    st.one_of(
        names.map(lambda name: f'trait:CUSTOM_{name}'),
        names.map(lambda name: f'hw:{name}'),
        names.map(lambda name: f'resources:CUSTOM_{name}'),
    ),
    st.sampled_from(['required', 'forbidden', '1', '0', 'x']),
    max_size=4,
)
flavors = st.builds(
    Flavor,
    id=st.just('f'),
    name=st.just('f'),
    vcpus=st.integers(1, 9),
    memory_mb=st.integers(1, 9999),
    disk_gb=st.integers(0, 99),
    ephemeral_gb=st.integers(0, 9),
    swap_mb=st.integers(0, 9999),
    public=st.booleans(),
    extra_specs=specs,
)
RACK = '["==", "$rack", "r1"]'
requests = st.builds(
    FlavorRequest,
    flavor_id=st.just('f'),
    amount=st.integers(1, 99),
    resource_properties=st.sampled_from(['', RACK]),
    source=flavors,
)
PLAIN = FlavorRequest(flavor_id='1234', amount=2)


def body(**changes: Any) -> dict[str, Any]:
    """Return what the command line sends."""
    return {'amount': 2, 'flavor_id': 1234, 'resource_type': TYPE, 'affinity': 'None', **changes}


class TestParse(base.TestCase):
    def test_bodies_of_real_clients(self) -> None:
        for sent in (
            body(),
            body(flavor_id='1234', amount='2'),
            body(affinity=None),
            body(affinity=''),
            body(resource_properties=''),
            # At 1.0 what is not known is dropped.
            body(vcpus=1),
        ):
            self.assertEqual(PLAIN, PLUGIN.parse(sent))

    def test_each_field_wrong_in_turn(self) -> None:
        for changes, error, text in (
            ({'flavor_id': ''}, exceptions.MissingParameter, 'flavor_id'),
            ({'flavor_id': None}, exceptions.MissingParameter, 'flavor_id'),
            ({'flavor_id': True}, exceptions.MalformedParameter, 'flavor_id'),
            ({'flavor_id': ['x']}, exceptions.MalformedParameter, 'flavor_id'),
            ({'flavor_id': 'x' * 256}, exceptions.MalformedParameter, 'flavor_id'),
            ({'amount': ''}, exceptions.MissingParameter, 'amount'),
            (
                {'resource_properties': '["=="]'},
                exceptions.MalformedRequirements,
                'resource_properties',
            ),
            ({'amount': '2,resource_properties=[]'}, exceptions.MalformedParameter, 'amount'),
            ({'affinity': 'True'}, exceptions.Conflict, 'Affinity not supported yet'),
            ({'affinity': False}, exceptions.Conflict, 'Affinity not supported yet'),
            ({'affinity': 'x'}, exceptions.MalformedParameter, 'affinity'),
        ):
            self.assertRaisesRegex(error, text, PLUGIN.parse, body(**changes))
        with self.assertRaisesRegex(exceptions.MalformedParameter, 'vcpus'):
            PLUGIN.parse(body(vcpus=1), strict=True)

    @hypothesis.given(requests)
    def test_round_trip(self, request: FlavorRequest) -> None:
        stored = json.loads(json.dumps(PLUGIN.dump(request)))
        self.assertEqual(request, PLUGIN.load(stored))
        self.assertEqual(PLAIN, PLUGIN.load(PLUGIN.dump(PLAIN)))
        # As releases before have written it.
        stored.pop('resource_properties')
        self.assertEqual('', PLUGIN.load(stored).resource_properties)

    def test_description(self) -> None:
        reservation = Reservation(
            id='r',
            lease_id='l',
            resource_type=TYPE,
            request=PLUGIN.dump(FlavorRequest(flavor_id='gold', amount=3, source=SOURCE)),
            facts={'aggregate_id': 7},
        )
        expected = {
            'vcpus': 2,
            'memory_mb': 2048,
            'disk_gb': 10,
            'amount': 3,
            'affinity': None,
            'resource_properties': '',
            'flavor_id': 'r',
            'aggregate_id': 7,
            'server_group_id': None,
        }
        self.assertEqual(expected, PLUGIN.describe(reservation))


class TestChange(base.TestCase):
    def test_the_amount_at_any_time_the_flavor_before_the_start(self) -> None:
        old = FlavorRequest(flavor_id='gold', amount=3, source=SOURCE)
        for running in (False, True):
            new = PLUGIN.change(old, {'amount': '5'}, running=running)
            self.assertEqual(dataclasses.replace(old, amount=5), new)
            new = PLUGIN.change(old, {'resource_properties': RACK}, running=running)
            self.assertEqual(dataclasses.replace(old, resource_properties=RACK), new)
            self.assertIsNotNone(PLUGIN.search(new).requirement)
        # It has to be looked at again.
        new = PLUGIN.change(old, {'flavor_id': 7})
        self.assertEqual(FlavorRequest(flavor_id='7', amount=3), new)
        with self.assertRaisesRegex(exceptions.CantUpdateParameter, 'flavor_id'):
            PLUGIN.change(old, {'flavor_id': 7}, running=True)
        with self.assertRaisesRegex(exceptions.Conflict, 'Affinity not supported yet'):
            PLUGIN.change(old, {'affinity': 'True'})


class TestInspect(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud = SimulatedCloud(':memory:', clock=ManualClock(NOW))

    def inspect(self, flavor_id: str, project: str = 'blue') -> FlavorRequest:
        request = FlavorRequest(flavor_id=flavor_id, amount=1)
        return PLUGIN.inspect(request, lambda: self.cloud.of_caller(f'user:{project}'), project)

    def test_any_flavor_that_the_caller_sees(self) -> None:
        self.cloud.compute.create_flavor(dataclasses.replace(SOURCE, public=False))
        self.cloud.compute.add_flavor_access('gold', 'blue')
        self.assertEqual(dataclasses.replace(SOURCE, public=False), self.inspect('gold').source)
        for flavor_id, project in (('gold', 'red'), ('none', 'blue')):
            with self.assertRaisesRegex(exceptions.InvalidInput, f"'{flavor_id}' not found"):
                self.inspect(flavor_id, project)

    def test_it_is_looked_at_once(self) -> None:
        self.cloud.compute.create_flavor(SOURCE)
        seen = self.inspect('gold')
        self.cloud.compute.delete_flavor('gold')
        again = PLUGIN.inspect(
            dataclasses.replace(seen, amount=9), lambda: self.cloud.of_caller('user:blue'), 'blue'
        )
        self.assertEqual(SOURCE, again.source)

    def test_flavors_that_cannot_be_reserved(self) -> None:
        reserved = {'aggregate_instance_extra_specs:reservation': 'r'}
        nothing = {f'resources:{name}': '0' for name in ('VCPU', 'MEMORY_MB', 'DISK_GB')}
        for extra_specs, text in ((reserved, 'is of a reservation'), (nothing, 'needs nothing')):
            self.cloud.compute.create_flavor(dataclasses.replace(SOURCE, extra_specs=extra_specs))
            self.assertRaisesRegex(exceptions.InvalidInput, text, self.inspect, 'gold')
            self.cloud.compute.delete_flavor('gold')

    def test_what_was_not_looked_at_cannot_be_searched_for(self) -> None:
        self.assertRaisesRegex(exceptions.InvalidInput, '1234', PLUGIN.search, PLAIN)


class TestNeeds(base.TestCase):
    """What Nova would ask Placement for."""

    def needs(self, **extra_specs: str) -> dict[str, int]:
        return demand.demand(
            Flavor(id='f', name='f', vcpus=4, memory_mb=1024, disk_gb=10, extra_specs=extra_specs)
        )

    def test_sizes(self) -> None:
        self.assertEqual({'VCPU': 2, 'MEMORY_MB': 2048, 'DISK_GB': 13}, demand.demand(SOURCE))
        bare = dataclasses.replace(SOURCE, disk_gb=0, ephemeral_gb=0, swap_mb=0)
        self.assertNotIn('DISK_GB', demand.demand(bare))
        self.assertEqual(2, demand.demand(dataclasses.replace(bare, swap_mb=1025))['DISK_GB'])

    def test_resources_have_the_last_word(self) -> None:
        plain = {'VCPU': 4, 'MEMORY_MB': 1024, 'DISK_GB': 10}
        for extra_specs, changes in (
            ({'resources:VCPU': '2'}, {'VCPU': 2}),
            ({'resources:VGPU': '1'}, {'VGPU': 1}),
            ({'resources1:VGPU': '1', 'resources_2:VGPU': '2'}, {'VGPU': 3}),
            ({'resources:VGPU': 'x', 'quota:VGPU': '1'}, {}),
        ):
            self.assertEqual({**plain, **changes}, self.needs(**extra_specs))
        bare_metal = {
            'resources:VCPU': '0',
            'resources:MEMORY_MB': '0',
            'resources:DISK_GB': '0',
            'resources:CUSTOM_BAREMETAL': '1',
        }
        self.assertEqual({'CUSTOM_BAREMETAL': 1}, self.needs(**bare_metal))

    def test_dedicated_processors(self) -> None:
        for extra_specs, processors in (
            ({'hw:cpu_policy': 'shared'}, {'VCPU': 4}),
            ({'hw:cpu_policy': 'dedicated'}, {'PCPU': 4}),
            ({'hw:cpu_policy': 'dedicated', 'hw:emulator_threads_policy': 'isolate'}, {'PCPU': 5}),
            ({'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '0-2,^1'}, {'PCPU': 2, 'VCPU': 2}),
            ({'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '^0'}, {'PCPU': 3, 'VCPU': 1}),
            (
                {
                    'hw:cpu_policy': 'mixed',
                    'hw:cpu_dedicated_mask': '^0',
                    'hw:emulator_threads_policy': 'isolate',
                },
                {'PCPU': 3, 'VCPU': 2},
            ),
            ({'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': 'x,,'}, {'PCPU': 4}),
            ({'hw:cpu_policy': 'dedicated', 'resources:PCPU': '1'}, {'PCPU': 1}),
        ):
            found = self.needs(**extra_specs)
            present = {name: found[name] for name in ('VCPU', 'PCPU') if name in found}
            self.assertEqual(processors, present, extra_specs)

    def test_traits(self) -> None:
        for extra_specs, required, forbidden in (
            ({'trait:A': 'required', 'trait:B': 'forbidden', 'trait:C': 'x'}, {'A'}, {'B'}),
            ({'trait1:A': 'required'}, {'A'}, set()),
            ({'hw:cpu_thread_policy': 'require'}, set(), set()),
            (
                {'hw:cpu_policy': 'dedicated', 'hw:cpu_thread_policy': 'require'},
                {'HW_CPU_HYPERTHREADING'},
                set(),
            ),
            (
                {'hw:cpu_policy': 'dedicated', 'hw:cpu_thread_policy': 'isolate'},
                set(),
                {'HW_CPU_HYPERTHREADING'},
            ),
        ):
            flavor = dataclasses.replace(SOURCE, extra_specs=extra_specs)
            search = PLUGIN.search(FlavorRequest(flavor_id='f', amount=1, source=flavor))
            self.assert_has(search, required_traits=required, forbidden_traits=forbidden)

    @hypothesis.given(requests)
    def test_search(self, request: FlavorRequest) -> None:
        assert request.source is not None
        search = PLUGIN.search(request)
        self.assertEqual((request.amount, request.amount), (search.minimum, search.maximum))
        self.assertEqual(demand.demand(request.source), search.demand)
        self.assertTrue(all(amount > 0 for amount in search.demand.values()))
