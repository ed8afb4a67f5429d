# SPDX-License-Identifier: Apache-2.0

"""What is asked of openstacksdk, held against a stub that speaks HTTP."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

from keystoneauth1 import loading as ks_loading

from climate import exceptions
from climate.cloud import base
from climate.cloud import sdk
from tests import waiting
from tests.base import TestCase
from tests.contract import backends
from tests.contract import stub_routes

NETWORKS = '/network/v2.0/networks'


class TestService(TestCase):
    """A service is reached with few requests, and its errors are ours."""

    def setUp(self) -> None:
        super().setUp()
        self.backend = self.closing(backends.StubBackend())
        self.stub = self.backend.stub
        self.conf = self.backend.conf
        self.service = self.open()

    def open(self, **neutron: object) -> sdk.SdkService:
        """Return the service of networks, with these options of [neutron]."""
        for name, value in neutron.items():
            self.conf.set_override(name, value, group='neutron')
        auth = ks_loading.load_auth_from_conf_options(self.conf, 'nova')
        self.session = ks_loading.load_session_from_conf_options(self.conf, 'nova', auth=auth)
        return sdk.SdkService(self.conf, 'network', session=self.session)

    def networks(self) -> list[Any]:
        """List the networks."""
        with self.service.calling('list_networks') as neutron:
            return list(neutron.networks())

    def create(self) -> str:
        """Make a network."""
        with self.service.calling('create_network') as neutron:
            return str(neutron.create_network(name='made').name)

    def test_a_verb_is_one_request(self) -> None:
        for _ in range(3):
            self.assertEqual([], self.networks())
        asked = [line for line in self.stub.requests if 'identity' not in line]
        self.assertEqual([f'GET {NETWORKS}'] * 3, asked)
        self.assertEqual(1, self.stub.count('POST .*/auth/tokens'))

    def listed(self, goes: Callable[[str], object]) -> list[str]:
        """List the networks, and call *goes* with the last of each page before the next."""

        def read(neutron: Any) -> Iterator[Any]:
            for number, item in enumerate(neutron.networks()):
                if number % stub_routes.PAGE == stub_routes.PAGE - 1:
                    goes(item.id)
                yield item

        return [item.id for item in self.service.every('list_networks', read)]

    def test_a_list_starts_over_when_its_marker_disappears(self) -> None:
        self.stub.networks = ['a', 'b', 'c', 'd', 'e']
        self.assertEqual(['a', 'b', 'c', 'd', 'e'], self.listed(lambda _: None))
        going = ['d']

        def goes(network_id: str) -> None:
            if network_id in going:
                going.remove(network_id)
                self.stub.networks.remove(network_id)

        self.assertEqual(['a', 'b', 'c', 'e'], self.listed(goes))
        self.assertEqual([], going)

    def test_a_list_that_never_ends_is_transient(self) -> None:
        self.stub.networks = [f'{number:02d}' for number in range(20)]
        self.assert_error(exceptions.Transient, 'HTTP 404', self.listed, self.stub.networks.remove)

    def test_a_list_that_is_refused_at_once_is_refused(self) -> None:
        self.stub.trouble(f'GET {NETWORKS}', 'status', status=403)
        self.assertRaises(exceptions.Permanent, self.listed, lambda _: None)

    def test_what_makes_something_is_sent_once(self) -> None:
        self.service = self.open(connect_retries=3, status_code_retries=3)
        self.assertEqual('made', self.create())
        self.stub.trouble(f'POST {NETWORKS}', 'lose', 1)
        self.assertRaises(exceptions.Transient, self.create)
        self.assertEqual(2, self.stub.count(f'POST {NETWORKS}'))
        self.stub.trouble(f'POST {NETWORKS}', 'status', 1, status=503)
        self.assertRaises(exceptions.Transient, self.create)
        self.assertEqual(3, self.stub.count(f'POST {NETWORKS}'))

    def test_what_does_no_harm_is_repeated(self) -> None:
        self.service = self.open(connect_retries=1)
        self.stub.trouble(f'GET {NETWORKS}', 'lose', 1)
        self.assertEqual([], self.networks())
        self.assertEqual(2, self.stub.count(f'GET {NETWORKS}'))

    def test_a_status_is_an_error_of_ours(self) -> None:
        self.service = self.open(connect_retries=0)
        for status, expected in (
            (400, exceptions.Permanent),
            (401, exceptions.Transient),
            (403, exceptions.Permanent),
            (404, base.CloudNotFound),
            (408, exceptions.Transient),
            (409, base.CloudConflict),
            (429, exceptions.Transient),
            (500, exceptions.Transient),
            (503, exceptions.Transient),
        ):
            # A 401 is met twice: with the old token and with the new one.
            times = 2 if status == 401 else 1
            self.stub.trouble(NETWORKS, 'status', times, status=status)
            error = self.assertRaises(exceptions.EffectError, self.networks)
            self.assertIs(expected, type(error), error.message)
            self.assertIn(f'HTTP {status}, req-1', error.message)
            self.assertIsNone(error.__cause__)
            self.assertTrue(error.__suppress_context__)
            if status != 401:
                self.assertIn('no luck today', error.message)

    def test_nothing_is_gone_because_a_proxy_says_so(self) -> None:
        self.stub.trouble(NETWORKS, 'proxy', 1, status=404)
        self.assertRaises(exceptions.Transient, self.networks)

    def test_errors_hold_no_tokens(self) -> None:
        self.networks()
        (token,) = self.stub.tokens
        self.stub.trouble(NETWORKS, 'status', 1, status=400, message=f'bad token {token}, secret')
        self.assert_error(exceptions.Permanent, 'bad token ***, ***', self.networks)

    def test_an_answer_that_makes_no_sense_is_transient(self) -> None:
        self.stub.trouble(NETWORKS, 'garbage', 1)
        self.assertRaises(exceptions.Transient, self.networks)

    def test_no_answer_in_time_is_transient_and_not_waited_for(self) -> None:
        self.service = self.open(timeout=0.3)
        self.stub.trouble(NETWORKS, 'hang', None)
        with waiting.coming_back():
            self.assertRaises(exceptions.Transient, self.networks)

    def test_a_token_that_ran_out_is_renewed(self) -> None:
        self.networks()
        self.stub.revoke_tokens()
        self.assertEqual([], self.networks())
        self.assertEqual(2, self.stub.count('auth/tokens'))

    def test_a_keystone_that_refuses_is_transient(self) -> None:
        self.stub.trouble('auth/tokens', 'status', 1, status=404)
        error = self.assertRaises(exceptions.Transient, self.networks)
        self.assertIn('Keystone issued no token for Neutron', error.message)
        self.assertEqual([], self.networks())

    def test_a_service_that_the_catalogue_lacks_may_come_later(self) -> None:
        del self.stub.catalog['network']
        for _ in range(2):
            self.assert_error(exceptions.Permanent, 'configuration', self.networks)
        self.stub.catalog['network'] = '/network'
        self.session.invalidate()
        self.assertEqual([], self.networks())

    def test_a_service_that_moves_is_followed(self) -> None:
        self.stub.catalog['network'] = '/elsewhere'
        self.assertRaises(base.CloudNotFound, self.networks)
        self.stub.catalog['network'] = '/network'
        self.stub.revoke_tokens()
        self.assertRaises(base.CloudNotFound, self.networks)
        self.assertEqual([], self.networks())

    def test_an_override_is_where_requests_go(self) -> None:
        del self.stub.catalog['network']
        self.service = self.open(endpoint_override=f'{self.stub.url}/network/v2.0')
        self.assertEqual([], self.networks())


class TestLoading(TestCase):
    """The library costs nothing where it is not used."""

    def test_it_is_not_loaded_before_a_verb_needs_it(self) -> None:
        program = 'import sys, climate.cloud.real; sys.exit("openstack" in sys.modules)'
        subprocess.run([sys.executable, '-c', program], check=True, timeout=60)
