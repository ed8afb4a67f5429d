# SPDX-License-Identifier: Apache-2.0
"""The request of a reservation of floating IPs: read, changed, stored, looked for."""

from __future__ import annotations

import ipaddress
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.allocation import requirements
from climate.plugins.floating_ip import errors
from climate.plugins.floating_ip.plugin import FloatingIP
from climate.plugins.floating_ip.plugin import FloatingIPRequest
from tests import base

PLUGIN = FloatingIP()
TYPE = 'virtual:floatingip'
NETWORK = '2c5a8a8e-52a4-4d2c-9f9b-6c3a1c3c1f10'

addresses = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(str)
requests = st.builds(
    lambda required, more: FloatingIPRequest(
        network_id=NETWORK, amount=max(1, len(required) + more), required=tuple(required)
    ),
    st.lists(addresses, unique=True, max_size=4),
    st.integers(0, 3),
)


def body(**changes: Any) -> dict[str, Any]:
    """Return what the command line sends."""
    return {
        'resource_type': TYPE,
        'network_id': NETWORK,
        'amount': 2,
        'required_floatingips': [],
        **changes,
    }


class TestParse(base.TestCase):
    """What clients send for a new one."""

    def test_bodies_of_real_clients(self) -> None:
        plain = FloatingIPRequest(network_id=NETWORK, amount=2)
        two = ['172.24.4.2', '172.24.4.3']
        for sent, wanted in (
            (body(), plain),
            (body(amount='2', required_floatingips=None), plain),
            (body(required_floatingips='', min=None, before_end='default'), plain),
            (body(network_id=123), FloatingIPRequest(network_id='123', amount=2)),
            (
                body(required_floatingips=two),
                FloatingIPRequest(network_id=NETWORK, amount=2, required=tuple(two)),
            ),
            # One address, written in two ways.
            (
                body(amount=1, required_floatingips=['2001:DB8:0::1', '2001:db8::1']),
                FloatingIPRequest(network_id=NETWORK, amount=1, required=('2001:db8::1',)),
            ),
        ):
            self.assertEqual(wanted, PLUGIN.parse(sent))

    def test_wrong_bodies(self) -> None:
        for changes, error, text in (
            ({'network_id': None}, exceptions.MissingParameter, 'network_id'),
            ({'network_id': ' '}, exceptions.MissingParameter, 'network_id'),
            ({'network_id': []}, exceptions.MalformedParameter, 'network_id'),
            ({'network_id': True}, exceptions.MalformedParameter, 'network_id'),
            ({'network_id': 2**70}, exceptions.MalformedParameter, 'network_id'),
            ({'network_id': 'a\x00'}, exceptions.MalformedParameter, 'network_id'),
            ({'network_id': 'a' * 256}, exceptions.MalformedParameter, 'network_id'),
            ({'amount': ''}, exceptions.MissingParameter, 'amount'),
            ({'amount': 0}, exceptions.MalformedParameter, 'amount'),
            ({'amount': 'x'}, exceptions.MalformedParameter, 'amount'),
            ({'required_floatingips': {}}, exceptions.MalformedParameter, 'required_floatingips'),
            ({'required_floatingips': '1.2.3.4'}, exceptions.MalformedParameter, 'required'),
            ({'required_floatingips': ['1.2.3']}, errors.InvalidIPFormat, "'1.2.3'"),
            ({'required_floatingips': [7]}, errors.InvalidIPFormat, '7'),
            ({'required_floatingips': [None]}, errors.InvalidIPFormat, 'None'),
            (
                {'required_floatingips': ['1.2.3.4', '1.2.3.5', '1.2.3.6']},
                errors.TooLongFloatingIPs,
                'required_floatingips',
            ),
        ):
            found = self.assertRaises(error, PLUGIN.parse, body(**changes))
            self.assertIn(text, found.message)
            self.assertEqual(400, found.code)

    @hypothesis.given(requests)
    def test_whole_resources_of_the_network_are_looked_for(
        self, request: FloatingIPRequest
    ) -> None:
        search = PLUGIN.search(request)
        self.assertEqual(
            (TYPE, request.amount, request.amount, {}, 'floating IPs'),
            (
                search.resource_type,
                search.minimum,
                search.maximum,
                dict(search.demand),
                search.noun,
            ),
        )
        self.assertEqual(len(request.required), len(search.names))
        for network, fits in ((NETWORK, True), ('other', False)):
            values = {'floating_network_id': network}
            self.assertIs(fits, requirements.matches(search.requirement, values))


class TestChange(base.TestCase):
    """What clients send for one that there is."""

    def setUp(self) -> None:
        super().setUp()
        self.request = FloatingIPRequest(
            network_id=NETWORK, amount=3, required=('1.2.3.4', '1.2.3.5')
        )

    def change(self, running: bool = False, **changes: Any) -> FloatingIPRequest:
        return PLUGIN.change(self.request, {'id': 'r', **changes}, strict=True, running=running)

    def test_amount(self) -> None:
        for running in (False, True):
            self.assertEqual(5, self.change(running, amount='5').amount)
            self.assertEqual(2, self.change(running, amount=2).amount)

    def test_fewer_than_required_need_fewer_required(self) -> None:
        self.assertRaises(errors.TooLongFloatingIPs, self.change, amount=1)
        changed = self.change(True, amount=1, required_floatingips=[])
        self.assertEqual((1, ()), (changed.amount, changed.required))

    def test_the_network_is_fixed(self) -> None:
        found = self.assertRaises(exceptions.CantUpdateParameter, self.change, network_id='other')
        self.assertEqual(('network_id cannot be updated', 409), (found.message, found.code))

    def test_once_it_runs_no_more_is_required(self) -> None:
        more = ['1.2.3.4', '1.2.3.6']
        self.assertEqual(tuple(more), self.change(required_floatingips=more).required)
        with self.assertRaises(exceptions.CantUpdateParameter):
            self.change(True, required_floatingips=more)
        self.assertEqual(('1.2.3.5',), self.change(True, required_floatingips=['1.2.3.5']).required)

    @hypothesis.given(requests, requests, st.booleans())
    def test_a_change_is_a_new_request_or_refused(
        self, before: FloatingIPRequest, wanted: FloatingIPRequest, running: bool
    ) -> None:
        try:
            changed = PLUGIN.change(before, {'id': 'r', **PLUGIN.dump(wanted)}, running=running)
        except exceptions.CantUpdateParameter:
            self.assertTrue(running and set(wanted.required) - set(before.required))
            return
        self.assertEqual(wanted, changed)
        for address in changed.required:
            self.assertEqual(address, str(ipaddress.ip_address(address)))
