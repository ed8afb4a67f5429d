# SPDX-License-Identifier: Apache-2.0

"""The errors callers see: their names and codes are a promise."""

from __future__ import annotations

import datetime
import inspect
import re

from climate import exceptions
from climate.api.errors import Unhealthy
from climate.plugins.floating_ip import errors as floating_ip
from climate.plugins.host import errors as host
from climate.plugins.network import errors as network
from tests import base
from tests.architecture import ROOT

# Programs compare these names. A line may be added; none may ever be changed
# or taken away.
PUBLISHED = {
    'INTERNAL_SERVER_ERROR': 500,
    'INVALID_INPUT': 400,
    'MISSING_PARAMETER': 400,
    'MALFORMED_PARAMETER': 400,
    'MALFORMED_REQUIREMENTS': 400,
    'REQUIREMENTS_TOO_SLOW': 400,
    'INVALID_DATE': 400,
    'INVALID_RANGE': 400,
    'INVALID_PERIOD': 400,
    'EXTRA_CAPABILITY_TOO_LONG': 400,
    'UNSUPPORTED_RESOURCE_TYPE': 400,
    'NOT_AUTHENTICATED': 401,
    'NOT_AUTHORIZED': 403,
    'POLICY_NOT_AUTHORIZED': 403,
    'OUTSIDE_LEASE': 403,
    'NOT_FOUND': 404,
    'HOST_NOT_FOUND': 404,
    'FREE_POOL_NOT_FOUND': 404,
    'CONFLICT': 409,
    'CANT_UPDATE_PARAMETER': 409,
    'INVALID_STATE': 409,
    'HOST_HAVING_SERVERS': 409,
    'RESOURCE_EXISTS': 409,
    'RESOURCE_TYPE_EXISTS': 409,
    'RESOURCE_TYPE_IN_USE': 409,
    'RESOURCE_TYPE_FIXED': 409,
    'RESOURCE_IN_USE': 409,
    'PROPERTY_IN_USE': 409,
    'INVENTORY_IN_USE': 409,
    'HOST_EXISTS': 409,
    'HOST_RENAMED': 409,
    'NOT_THE_HOST': 409,
    'NOT_REFRESHED': 409,
    'HOST_SHARED': 409,
    'HOST_IN_ZONE': 409,
    'HOST_IN_USE': 409,
    'CAPABILITY_IN_USE': 409,
    'BOOKED_MEANWHILE': 409,
    'NOT_ENOUGH_RESOURCES': 409,
    'RESOURCE_IN_MAINTENANCE': 409,
    'RESOURCES_IN_USE': 409,
    'IDEMPOTENCY_KEY_REUSED': 409,
    'IDEMPOTENCY_KEY_IN_USE': 409,
    'IDEMPOTENT_ANSWER_LOST': 409,
    'PRECONDITION_FAILED': 412,
    'REQUEST_TOO_LARGE': 413,
    'UNSUPPORTED_MEDIA_TYPE': 415,
    'METHOD_NOT_ALLOWED': 405,
    'NOT_ACCEPTABLE': 406,
    'SERVICE_UNAVAILABLE': 503,
    'DATABASE_UNAVAILABLE': 503,
    'DATABASE_REFUSED': 500,
    'MANAGER_UNAVAILABLE': 503,
    'CLOUD_UNAVAILABLE': 503,
    'CONFIGURATION_ERROR': 500,
    'EFFECT_ERROR': 500,
    'TRANSIENT': 500,
    'PERMANENT': 500,
    'INVALID_IP_FORMAT': 400,
    'TOO_LONG_FLOATING_IPS': 400,
    'FLOATING_IP_NETWORK_NOT_FOUND': 400,
    'NEUTRON_USES_FLOATING_IP': 400,
    'FLOATING_IP_SUBNET_NOT_FOUND': 404,
    'SEGMENT_IN_USE': 409,
    'LIMIT_EXCEEDED': 400,
    'MAX_LEASE_DURATION': 400,
    'PROJECT_LIMIT': 400,
    'TOO_MANY_REQUESTS': 429,
    'TOO_MANY_AT_ONCE': 429,
    'OUTSIDE_EXTENSION_WINDOW': 400,
    'EXTERNAL_SERVICE_REFUSED': 400,
    'EXTERNAL_SERVICE_UNAVAILABLE': 400,
    'LEASE_REFUSED': 403,
    'JUDGE_AWAY': 500,
    'RESOURCE_UNUSABLE': 500,
    'OFFER_GONE': 404,
}


def every_error() -> list[type[exceptions.ClimateError]]:
    """Return every class that may reach a caller: those of all types, and those of each."""
    return [
        error
        for module in (exceptions, floating_ip, host, network)
        for _, error in inspect.getmembers(module, inspect.isclass)
        if issubclass(error, exceptions.ClimateError)
    ]


class PublishedTest(base.TestCase):
    def test_names_and_codes_are_frozen(self) -> None:
        self.assertEqual(PUBLISHED, {error.error_name: error.code for error in every_error()})

    def test_the_api_reference_lists_all(self) -> None:
        page = (ROOT / 'api-ref' / 'source' / 'general.rst').read_text(encoding='utf-8')
        rows = re.findall(r'^   \* - (\d{3})\n     - ``(\w+)``\n     - \S', page, re.MULTILINE)
        listed = [(name, int(code)) for code, name in rows]
        present = {*PUBLISHED.items(), (Unhealthy.error_name, Unhealthy.code)}
        self.assertEqual(sorted(present), sorted(listed))

    def test_every_class_says_its_own_name(self) -> None:
        for error in every_error():
            self.assertIn('error_name', vars(error), error)
        names = [error.error_name for error in every_error()]
        self.assertEqual(len(names), len(set(names)))

    def test_names_are_written_alike(self) -> None:
        for error in every_error():
            self.assertTrue(re.fullmatch('[A-Z][A-Z_]+[A-Z]', error.error_name), error)
            self.assertTrue(400 <= error.code < 600, error)


class MessageTest(base.TestCase):
    def test_facts_fill_the_template(self) -> None:
        for error in every_error():
            if error is exceptions.NotEnoughResources:
                continue
            facts = {name: f'<{name}>' for name in re.findall(r'%\((\w+)\)s', error.template)}
            raised = error(**facts)
            self.assert_has(raised, facts=facts, message=error.template % facts)
            self.assertNotIn('%(', raised.message)

    def test_a_message_of_its_own(self) -> None:
        for error in every_error():
            if error is exceptions.NotEnoughResources:
                continue
            self.assertEqual('100% wrong', error('100% wrong').message)

    def test_texts_that_existing_clients_match_on(self) -> None:
        found = exceptions.InvalidPeriod().message
        self.assertEqual('End date must be later than start date.', found)
        actual = exceptions.MissingParameter(param='end_date').message
        self.assertEqual('Missing parameter end_date', actual)
        self.assertEqual(
            'Bogus-date 13:13 is an invalid date. Required format: %Y-%m-%d %H:%M',
            exceptions.InvalidDate(date='Bogus-date 13:13', date_format='%Y-%m-%d %H:%M').message,
        )
        self.assertIn('Extra capability key too long', exceptions.ExtraCapabilityTooLong().message)
        expected = 'Not enough hosts available'
        self.assertEqual(expected, exceptions.NotEnoughResources('hosts').message)

    def test_a_refusal_says_why(self) -> None:
        ends = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)
        error = exceptions.NotEnoughResources('hosts', matched=4, free=1, first_blocker_ends=ends)
        self.assertEqual((4, 1, ends), (error.matched, error.free, error.first_blocker_ends))


class PluginErrorTest(base.TestCase):
    """RPC finds every error in ``climate.exceptions``, those of plugins too."""

    def test_found_by_name(self) -> None:
        self.assertIs(host.HostExists, exceptions.HostExists)
        self.assertIs(exceptions.NotFound, exceptions.NotFound)

    def test_unknown(self) -> None:
        self.assertRaises(AttributeError, getattr, exceptions, 'Nothing')
