# SPDX-License-Identifier: Apache-2.0

"""The requests of reservations of instances: read, changed, stored, searched for."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.domain.leases import Reservation
from climate.domain.resources import Spread
from climate.plugins.instance.by_size import InstanceRequest
from climate.plugins.instance.by_size import VirtualInstance
from tests import base

PLUGIN = VirtualInstance()
TYPE = 'virtual:instance'
GPU = '["==", "$gpu", "True"]'

requests = st.builds(
    InstanceRequest,
    vcpus=st.integers(1, 99),
    memory_mb=st.integers(1, 99999),
    disk_gb=st.integers(0, 99),
    amount=st.integers(1, 99),
    affinity=st.sampled_from([None, True, False]),
    resource_properties=st.sampled_from(['', GPU, '[">=", "$vcpus", "4"]']),
)
PLAIN = InstanceRequest(vcpus=1, memory_mb=512, disk_gb=10, amount=2)


def body(**changes: Any) -> dict[str, Any]:
    """Return what the command line sends."""
    return {
        'amount': 2,
        'disk_gb': 10,
        'memory_mb': 512,
        'vcpus': 1,
        'resource_type': TYPE,
        'affinity': 'None',
        'resource_properties': '',
        **changes,
    }


class TestParse(base.TestCase):
    def test_bodies_of_real_clients(self) -> None:
        for sent, affinity in (
            # The command line, and the dashboard, which sends '' for none.
            (body(), None),
            (body(affinity='True'), True),
            (body(affinity='False'), False),
            (body(affinity=''), None),
            # Heat, which says null where nothing is set.
            (body(affinity=False, resource_properties=None), False),
            (body(affinity=None), None),
            (body(affinity='none'), None),
            (body(vcpus='1', memory_mb='512', disk_gb='10', amount='2'), None),
            ({key: value for key, value in body().items() if key != 'affinity'}, None),
            # Heat sends fields of other types as well; at 1.0 they are dropped.
            (body(min=None, max=None, before_end='default'), None),
        ):
            wanted = InstanceRequest(
                vcpus=1, memory_mb=512, disk_gb=10, amount=2, affinity=affinity
            )
            self.assertEqual(wanted, PLUGIN.parse(sent), sent)
        for value in (GPU, json.loads(GPU)):
            self.assertEqual(GPU, PLUGIN.parse(body(resource_properties=value)).resource_properties)

    def test_each_field_wrong_in_turn(self) -> None:
        for changes, error, text in (
            ({'vcpus': ''}, exceptions.MissingParameter, 'vcpus'),
            ({'memory_mb': None}, exceptions.MissingParameter, 'memory_mb'),
            ({'disk_gb': ''}, exceptions.MissingParameter, 'disk_gb'),
            ({'amount': ''}, exceptions.MissingParameter, 'amount'),
            ({'vcpus': 0}, exceptions.MalformedParameter, 'vcpus'),
            ({'memory_mb': '0'}, exceptions.MalformedParameter, 'memory_mb'),
            ({'disk_gb': -1}, exceptions.MalformedParameter, 'disk_gb'),
            ({'amount': '2,resource_properties=x'}, exceptions.MalformedParameter, 'amount'),
            ({'amount': 0}, exceptions.MalformedParameter, 'amount'),
            ({'affinity': 'maybe'}, exceptions.MalformedParameter, 'affinity'),
            ({'affinity': 1}, exceptions.MalformedParameter, 'affinity'),
            ({'affinity': []}, exceptions.MalformedParameter, 'affinity'),
            ({'resource_properties': 7}, exceptions.MalformedRequirements, 'resource_properties'),
        ):
            self.assertRaisesRegex(error, text, PLUGIN.parse, body(**changes))
        with self.assertRaisesRegex(exceptions.MalformedParameter, 'flavor_id'):
            PLUGIN.parse(body(flavor_id='1'), strict=True)

    def test_description(self) -> None:
        apart = PLUGIN.dump(dataclasses.replace(PLAIN, affinity=False))
        reservation = Reservation(id='r', lease_id='l', resource_type=TYPE, request=apart)
        wanted = {**apart, 'flavor_id': 'r'}
        made = {'aggregate_id': 7, 'server_group_id': 'g'}
        for facts in ({}, made):
            self.assertEqual(
                {**wanted, **(facts or dict.fromkeys(made))},
                PLUGIN.describe(
                    Reservation(
                        id='r',
                        lease_id='l',
                        resource_type=TYPE,
                        request=reservation.request,
                        facts=facts,
                    )
                ),
            )


class TestChange(base.TestCase):
    @hypothesis.given(requests, requests)
    def test_everything_before_the_start(self, old: InstanceRequest, new: InstanceRequest) -> None:
        sent = {'id': 'r', **PLUGIN.dump(new)}
        # Null leaves what is; so it is said in words.
        sent['affinity'] = str(new.affinity)
        self.assertEqual(new, PLUGIN.change(old, sent))

    def test_what_an_active_reservation_allows(self) -> None:
        new = PLUGIN.change(PLAIN, {'amount': 5, 'resource_properties': GPU}, running=True)
        self.assertEqual((5, GPU), (new.amount, new.resource_properties))
        for key, value in (
            ('vcpus', 2),
            ('memory_mb', '1024'),
            ('disk_gb', 0),
            ('affinity', 'True'),
        ):
            with self.assertRaisesRegex(exceptions.CantUpdateParameter, key):
                PLUGIN.change(PLAIN, {key: value}, running=True)


class TestSearch(base.TestCase):
    @hypothesis.given(requests)
    def test_slots(self, request: InstanceRequest) -> None:
        search = PLUGIN.search(request)
        self.assertEqual('physical:host', search.resource_type)
        self.assertEqual((request.amount, request.amount), (search.minimum, search.maximum))
        self.assert_has(search.demand, VCPU=request.vcpus, MEMORY_MB=request.memory_mb)
        self.assertEqual(request.disk_gb or None, search.demand.get('DISK_GB'))
        self.assertEqual(bool(request.resource_properties), search.requirement is not None)
        spreads = {None: Spread.ANY, True: Spread.TOGETHER, False: Spread.APART}
        self.assertIs(spreads[request.affinity], search.spread)
