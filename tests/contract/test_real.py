# SPDX-License-Identifier: Apache-2.0

"""How the real clients take it when the cloud misbehaves, over real HTTP."""

from __future__ import annotations

import pathlib
import socket
import tempfile

import fixtures

from climate import exceptions
from climate.cloud import base
from climate.cloud import real
from tests import waiting
from tests.base import TestCase
from tests.contract import backends
from tests.contract import contracts
from tests.narrowing import present

ACTION = r'POST .*/os-aggregates/\d+/action'


class RealClientTest(TestCase):
    """Opens a stub of a cloud."""

    def open(self, **nova: object) -> backends.StubBackend:
        """Open a backend with these options of [nova]."""
        return self.closing(backends.StubBackend(**nova))


class TestTroubles(RealClientTest):
    """Every kind of trouble becomes an error of our own."""

    def check_status(self, status: int, expected: type[Exception]) -> None:
        """Let every verb meet a status and check what becomes of it."""
        backend = self.open()
        compute, placement = backend.cloud.compute, backend.cloud.placement
        backend.stub.trouble('(compute|placement)/', 'status', None, status=status)
        calls = (
            (compute.list_hypervisors,),
            (compute.list_servers, 'compute-1'),
            (compute.create_image, 'x', 'y'),
            (compute.list_aggregates,),
            (compute.find_aggregate, 'x'),
            (compute.create_aggregate, 'x', None),
            (compute.set_aggregate_metadata, 1, {'a': '1'}),
            (compute.add_host, 1, 'compute-1'),
            (placement.create_provider, 'x', None),
            (placement.inventories, 'x'),
            (placement.traits, 'x'),
        )
        for verb, *arguments in calls:
            error = self.assertRaises(exceptions.EffectError, verb, *arguments)
            self.assertIs(expected, type(error), f'{verb.__name__}: {error}')

    def test_busy_or_broken_is_transient(self) -> None:
        for status in (408, 429, 500, 502, 503, 504):
            self.check_status(status, exceptions.Transient)

    def test_unauthorised_for_good_is_transient(self) -> None:
        self.check_status(401, exceptions.Transient)

    def test_not_found(self) -> None:
        self.check_status(404, base.CloudNotFound)

    def test_nothing_is_gone_because_a_proxy_says_so(self) -> None:
        backend = self.open()
        server_id = backend.boot('compute-1')
        backend.stub.trouble('(compute|placement)/', 'proxy', None, status=404)
        compute, placement = backend.cloud.compute, backend.cloud.placement
        for verb, *arguments in (
            (compute.find_server, server_id),
            (compute.delete_server, server_id),
            (compute.find_hypervisor, 'compute-1'),
            (compute.list_servers, 'compute-1'),
            (compute.remove_host, 1, 'compute-1'),
            (compute.delete_aggregate, 1),
            (placement.find_provider, 'compute-1'),
            (placement.delete_provider, 'x'),
        ):
            self.assertRaises(exceptions.Transient, verb, *arguments)

    def test_conflict(self) -> None:
        backend = self.open()
        backend.stub.trouble(ACTION, 'status', None, status=409)
        pool = present(backend.cloud.compute.find_aggregate('freepool'))
        add = backend.cloud.compute.add_host
        error = self.assertRaises(base.CloudConflict, add, pool.id, 'compute-1')
        self.assert_contains(error.message, 'no luck today', 'req-1')

    def test_quota(self) -> None:
        for status, message in (
            (403, 'Quota exceeded for cores: Requested 1, but already used 0 of 0 cores'),
            (403, 'You have reached the maximum stacks per tenant, 1.'),
            (409, "Quota exceeded for resources: ['network']."),
            (413, 'Requested volume or snapshot exceeds allowed gigabytes quota.'),
            (413, "Maximum number of volumes allowed (0) exceeded for quota 'volumes'."),
        ):
            backend = self.open()
            backend.stub.trouble('os-aggregates', 'status', None, status=status, message=message)
            self.assert_error(base.CloudQuota, message[:20], backend.cloud.compute.list_aggregates)

    def test_any_other_refusal_is_permanent(self) -> None:
        for status in (400, 403, 405, 413):
            self.check_status(status, exceptions.Permanent)

    def test_an_answer_that_makes_no_sense_is_transient(self) -> None:
        backend = self.open()
        backend.stub.trouble('(compute|placement)/', 'garbage', None)
        for verb, *arguments in (
            (backend.cloud.compute.list_aggregates,),
            (backend.cloud.compute.list_hypervisors,),
            (backend.cloud.compute.create_aggregate, 'x', None),
            (backend.cloud.placement.find_provider, 'x'),
            (backend.cloud.placement.create_provider, 'x', None),
        ):
            self.assertRaises(exceptions.Transient, verb, *arguments)

    def test_no_answer_in_time_is_transient_and_not_waited_for(self) -> None:
        backend = self.open(timeout=0.3)
        backend.cloud.compute.list_aggregates()
        backend.stub.trouble('(compute|placement)/', 'hang', None)
        for verb in (backend.cloud.compute.list_aggregates, backend.cloud.compute.list_hypervisors):
            with waiting.coming_back():
                self.assertRaises(exceptions.Transient, verb)

    def test_a_keystone_that_hangs_is_transient_too(self) -> None:
        backend = self.open(timeout=0.3)
        backend.stub.trouble('auth/tokens', 'hang', None)
        with waiting.coming_back():
            self.assertRaises(exceptions.Transient, backend.cloud.compute.list_aggregates)
            self.assertRaises(exceptions.Transient, backend.cloud.placement.find_provider, 'x')

    def test_no_connection_is_transient(self) -> None:
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            nobody = f'http://127.0.0.1:{free.getsockname()[1]}'
        backend = self.open(endpoint_override=nobody)
        self.assertRaises(exceptions.Transient, backend.cloud.compute.list_aggregates)

    def test_an_unavailable_keystone_is_transient(self) -> None:
        backend = self.open()
        backend.close()
        self.assertRaises(exceptions.Transient, backend.cloud.compute.list_aggregates)
        self.assertRaises(exceptions.Transient, backend.cloud.placement.find_provider, 'x')

    def test_what_keystone_refuses_is_transient_and_not_about_the_verb(self) -> None:
        for status in (400, 401, 403, 404, 409, 503):
            backend = self.open()
            backend.stub.trouble('auth/tokens', 'status', None, status=status, message='no secret')
            for verb, *arguments in (
                (backend.cloud.compute.find_server, contracts.NOBODY),
                (backend.cloud.compute.delete_server, 'x'),
                (backend.cloud.placement.find_provider, 'x'),
                (backend.cloud.placement.delete_provider, 'x'),
            ):
                error = self.assertRaises(exceptions.Transient, verb, *arguments)
                self.assertNotIn('secret', error.message)

    def test_a_service_that_the_catalogue_lacks_is_permanent(self) -> None:
        backend = self.open(region_name='Atlantis')
        error = self.assertRaises(exceptions.Permanent, backend.cloud.compute.list_aggregates)
        self.assertIn('configuration', error.message)

    def test_other_services_are_looked_for_in_the_region_of_nova(self) -> None:
        backend = self.open(region_name='Atlantis')
        self.assertRaises(exceptions.Permanent, backend.cloud.placement.find_provider, 'compute-1')
        backend.conf.set_override('region_name', 'R', group='placement')
        self.assertIsNotNone(real.connect(backend.conf).placement.find_provider('compute-1'))

    def test_it_works_again_afterwards(self) -> None:
        backend = self.open()
        backend.stub.trouble('os-aggregates', 'status', 1, status=503)
        backend.stub.trouble('os-aggregates', 'lose', 1)
        for _ in range(2):
            self.assertRaises(exceptions.Transient, backend.cloud.compute.list_aggregates)
        self.assertEqual(1, len(backend.cloud.compute.list_aggregates()))


class TestIdentity(RealClientTest):
    """Tokens are kept, renewed, and never shown."""

    def test_one_token_serves_every_call(self) -> None:
        backend = self.open()
        for _ in range(3):
            backend.cloud.compute.list_hypervisors()
            backend.cloud.placement.find_provider('compute-1')
        self.assertEqual(1, backend.stub.count('auth/tokens'))

    def test_a_token_that_ran_out_is_renewed(self) -> None:
        backend = self.open()
        backend.cloud.compute.list_aggregates()
        backend.stub.revoke_tokens()
        self.assertEqual(1, len(backend.cloud.compute.list_aggregates()))
        self.assertEqual(2, backend.stub.count('auth/tokens'))

    def test_errors_hold_no_tokens(self) -> None:
        for status in (401, 403, 404, 409, 500):
            backend = self.open()
            backend.cloud.compute.list_aggregates()
            (token,) = backend.stub.tokens
            backend.stub.trouble('/', 'status', None, status=status, message=f'bad token {token}!')
            for verb, *arguments in (
                (backend.cloud.compute.create_image, 'x', 'y'),
                (backend.cloud.placement.create_provider, 'x', None),
            ):
                error = self.assertRaises(exceptions.EffectError, verb, *arguments)
                self.assertNotIn(token[:20], f'{error!r} {error.facts}')
                self.assertIsNone(error.__cause__)
                self.assertTrue(error.__suppress_context__)

    def test_errors_hold_no_tokens_of_others(self) -> None:
        for token in (f'gAAAAABm{"x" * 30}', f'eyJ{"a" * 9}.{"b" * 9}.c-c', 'Ab1_' * 20):
            backend = self.open()
            message = f'token {token} of {backends.unique("server")}'
            backend.stub.trouble('os-aggregates', 'status', None, status=400, message=message)
            error = self.assertRaises(exceptions.Permanent, backend.cloud.compute.list_aggregates)
            self.assertIn('token *** of server-', error.message)

    def test_errors_hold_no_short_secrets_either(self) -> None:
        backend = self.open()
        backend.stub.trouble('os-aggregates', 'status', None, status=400, message='is it secret?')
        self.assert_error(exceptions.Permanent, 'is it ***?', backend.cloud.compute.list_aggregates)

    def test_a_long_reason_is_cut(self) -> None:
        backend = self.open()
        backend.stub.trouble('os-aggregates', 'status', None, status=400, message='so. ' * 1000)
        error = self.assertRaises(exceptions.Permanent, backend.cloud.compute.list_aggregates)
        self.assertLess(len(error.message), 500)


class TestRequests(RealClientTest):
    """What is sent, how often."""

    def test_a_request_without_answer_is_repeated_if_that_does_no_harm(self) -> None:
        backend = self.open(connect_retries=1)
        backend.stub.trouble('GET .*/os-aggregates', 'lose', 1)
        self.assertEqual(1, len(backend.cloud.compute.list_aggregates()))

    def test_what_makes_something_is_sent_once(self) -> None:
        backend = self.open(connect_retries=1)
        backend.conf.set_override('connect_retries', 1, group='placement')
        cloud = real.connect(backend.conf)
        server_id = backend.boot('compute-1')
        backend.stub.trouble('POST .*/action', 'lose', None)
        backend.stub.trouble('POST .*/resource_providers', 'lose', None)
        self.assertRaises(exceptions.Transient, cloud.compute.create_image, server_id, 'x')
        self.assertRaises(exceptions.Transient, cloud.placement.create_provider, 'x', None)
        self.assertEqual(1, backend.stub.count('POST .*/action'))
        self.assertEqual(1, backend.stub.count('POST .*/resource_providers'))
        self.assertEqual(1, len(backend.stub.cloud.images()))

    def test_servers_of_others_are_never_handed_out(self) -> None:
        backend = self.open()
        backend.boot('compute-1')
        backend.boot('compute-2')
        backend.stub.hidden_hosts = True
        self.assertRaises(exceptions.Permanent, backend.cloud.compute.list_servers, 'compute-1')

    def test_zones_are_not_asked_for_if_not_wanted(self) -> None:
        backend = self.open(az_aware=False)
        found = present(backend.cloud.compute.find_hypervisor('compute-1'))
        self.assertEqual('', found.availability_zone)
        self.assertEqual(0, backend.stub.count('os-services'))

    def test_no_files_appear_in_the_home_directory(self) -> None:
        with tempfile.TemporaryDirectory() as home:
            self.useFixture(fixtures.EnvironmentVariable('HOME', home))
            self.open().cloud.compute.list_aggregates()
            self.assertEqual([], list(pathlib.Path(home).iterdir()))


class TestConfiguration(TestCase):
    """A configuration that cannot work is reported immediately."""

    def refused(self, **nova: object) -> str:
        """Return the complaint about a configuration."""
        conf = backends.configuration(**nova)
        return self.assertRaises(exceptions.ConfigurationError, real.connect, conf).message

    def test_it_says_which_group_and_what(self) -> None:
        self.assertIn('[nova] auth_type', self.refused())
        self.assertIn('[nova]', self.refused(auth_type='nonsense'))
        self.assertIn('auth', self.refused(auth_type='password'))
        self.assertIn('timeout', self.refused(auth_type='none', timeout=0))

    def test_a_microversion_without_sizes_is_refused(self) -> None:
        for version in ('2.1', '2.52', '2.88', '2.100'):
            self.assertIn(
                'compute_api_microversion',
                self.refused(
                    auth_type='none', endpoint_override='http://x', compute_api_microversion=version
                ),
            )

    def test_time_outs_have_defaults(self) -> None:
        conf = backends.configuration()
        for group in ('nova', 'placement'):
            self.assertEqual((30, 1), (conf[group].timeout, conf[group].connect_retries))
            self.assertEqual(['internal', 'public'], conf[group].valid_interfaces)

    def test_an_auth_section_may_be_shared(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / 'climate.conf'
            file.write_text(
                '[nova]\nauth_section = cloud\n[placement]\nauth_section = cloud\n'
                '[cloud]\nauth_type = none\nendpoint = http://127.0.0.1:1\n'
            )
            self.assertIsNotNone(real.connect(backends.configuration(str(file))).compute)
