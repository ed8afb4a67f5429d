# SPDX-License-Identifier: Apache-2.0
"""The request of a reservation of a network: read, changed, stored, looked for."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
import jsonschema
from hypothesis import strategies as st

from climate import exceptions
from climate.allocation import requirements
from climate.domain.leases import Reservation
from climate.plugins.network.plugin import NetworkPlugin
from climate.plugins.network.plugin import NetworkRequest
from tests import base

PLUGIN = NetworkPlugin()
TYPE = 'network'
VLAN = '["==", "$network_type", "vlan"]'
FAST = '[">=", "$speed", "10"]'

names = st.text(
    st.characters(codec='utf-8', exclude_categories=['Cc', 'Cf', 'Zl', 'Zp']),
    min_size=1,
    max_size=255,
).filter(str.strip)
lines = st.text(
    st.characters(
        codec='utf-8', exclude_categories=['Cc', 'Cf', 'Zl', 'Zp'], include_characters='\n\r\t'
    ),
    max_size=255,
)
texts = st.sampled_from(['', VLAN, FAST])
requests = st.builds(
    NetworkRequest,
    name=names,
    description=lines,
    network_properties=texts,
    resource_properties=texts,
)


def body(**changes: Any) -> dict[str, Any]:
    """Return what a client sends that knows networks."""
    return {'resource_type': TYPE, 'network_name': 'my-net', **changes}


class TestParse(base.TestCase):
    """What clients send for a new one."""

    def test_bodies_of_real_clients(self) -> None:
        plain = NetworkRequest(name='my-net')
        for sent, wanted in (
            (body(), plain),
            (body(network_name=7), NetworkRequest(name='7')),
            (body(network_properties='', resource_properties='', network_description=''), plain),
            (body(network_properties=None, network_description=None, before_end=None), plain),
            (body(before_end='default', min=None), plain),
            (
                body(network_properties=VLAN, resource_properties=FAST, network_description='d'),
                NetworkRequest(
                    name='my-net',
                    description='d',
                    network_properties=VLAN,
                    resource_properties=FAST,
                ),
            ),
        ):
            self.assertEqual(wanted, PLUGIN.parse(sent))

    def test_wrong_bodies(self) -> None:
        for changes, error in (
            ({'network_name': None}, exceptions.MissingParameter),
            ({'network_name': ''}, exceptions.MissingParameter),
            ({'network_name': 'x' * 256}, exceptions.MalformedParameter),
            ({'network_name': ['x']}, exceptions.MalformedParameter),
            ({'network_description': 'x' * 256}, exceptions.MalformedParameter),
            ({'network_description': '\ud800'}, exceptions.MalformedParameter),
            ({'network_properties': '["'}, exceptions.MalformedRequirements),
            ({'resource_properties': 7}, exceptions.MalformedRequirements),
            ({'before_end': 'email'}, exceptions.MalformedParameter),
            ({'before_end': {}}, exceptions.MalformedParameter),
        ):
            found = self.assertRaises(error, PLUGIN.parse, body(**changes))
            self.assertIn(next(iter(changes)), found.message)
            self.assertEqual(400, found.code)

    @hypothesis.given(requests)
    def test_what_is_stored_is_read_again(self, request: NetworkRequest) -> None:
        stored = json.loads(json.dumps(PLUGIN.dump(request)))
        self.assertEqual(request, PLUGIN.load(stored))
        sent = {'resource_type': TYPE, **stored}
        jsonschema.validate(sent, PLUGIN.request_schema)
        self.assertEqual(request, PLUGIN.parse(sent, strict=True))
        for facts, network_id in (({}, None), ({'network_id': 'n'}, 'n')):
            reservation = Reservation(
                id='r', lease_id='l', resource_type=TYPE, request=stored, facts=facts
            )
            self.assertEqual({**stored, 'network_id': network_id}, PLUGIN.describe(reservation))

    def test_one_whole_segment_is_looked_for(self) -> None:
        search = PLUGIN.search(
            PLUGIN.parse(body(network_properties=VLAN, resource_properties=FAST))
        )
        self.assertEqual(
            (TYPE, 1, 1, {}, 'networks', ()),
            (
                search.resource_type,
                search.minimum,
                search.maximum,
                dict(search.demand),
                search.noun,
                search.names,
            ),
        )
        for values, fits in (
            ({'network_type': 'vlan', 'speed': '40'}, True),
            ({'network_type': 'vlan', 'speed': '1'}, False),
            ({'network_type': 'vxlan', 'speed': '40'}, False),
        ):
            self.assertIs(fits, requirements.matches(search.requirement, values))
        self.assertIsNone(PLUGIN.search(PLUGIN.parse(body())).requirement)


class TestChange(base.TestCase):
    """What clients send for one that there is."""

    def setUp(self) -> None:
        super().setUp()
        self.request = NetworkRequest(name='a', description='b', network_properties=VLAN)

    def change(self, running: bool = False, **changes: Any) -> NetworkRequest:
        return PLUGIN.change(self.request, {'id': 'r', **changes}, strict=True, running=running)

    def test_what_it_is_called(self) -> None:
        for running in (False, True):
            changed = self.change(running, network_name='c', network_description='')
            self.assertEqual(('c', ''), (changed.name, changed.description))
            self.assertTrue(PLUGIN.follows(self.request, changed))
        self.assertRaises(exceptions.MissingParameter, self.change, network_name='')

    def test_the_segment_is_fixed_once_it_runs(self) -> None:
        for key in ('network_properties', 'resource_properties'):
            self.assertFalse(PLUGIN.follows(self.request, self.change(**{key: FAST})))
            found = self.assertRaises(
                exceptions.CantUpdateParameter, self.change, True, **{key: FAST}
            )
            self.assertEqual(409, found.code)
