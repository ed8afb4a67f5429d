# SPDX-License-Identifier: Apache-2.0

"""Bodies against their schemas, and the texts that say what is wrong."""

from __future__ import annotations

import sys

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.api.http import faults
from climate.api.http import validation
from climate.api.http.microversions import V1_0
from climate.api.http.microversions import V1_1
from climate.api.schemas import capabilities
from climate.api.schemas import feeds
from climate.api.schemas import leases
from climate.api.schemas import placements
from climate.api.schemas import properties
from climate.api.schemas.collections import CollectionSchemas
from climate.plugins.host.collection import HOSTS
from climate.plugins.host.resources import RESERVED_PROPERTIES
from tests import base

LEASE = {'name': 'l', 'start_date': 'now', 'end_date': '2030-01-01 00:00'}


class LeaseSchemasTest(base.TestCase):
    """Bodies of leases."""

    def refused(self, verb, version, body):
        """Return the text with which *body* is refused."""
        return self.assertRaises(exceptions.InvalidInput, leases.check, verb, version, body).message

    def test_what_existing_clients_send(self):
        leases.check('create', V1_0, LEASE)
        leases.check('create', V1_0, {**LEASE, 'before_end_date': None, 'events': [], 'x': 1})
        leases.check('create', V1_0, {**LEASE, 'reservations': None, 'events': None})
        leases.check('update', V1_0, {'name': None, 'end_date': '2030-01-01 00:00'})

    def test_missing(self):
        for key in LEASE:
            body = {k: v for k, v in LEASE.items() if k != key}
            self.assertEqual(f'Missing parameter {key}', self.refused('create', V1_0, body))

    def test_says_field_and_reason(self):
        for body, text in (
            ({**LEASE, 'name': ''}, 'name: at least 1 character'),
            ({**LEASE, 'name': 'x' * 81}, 'name: at most 80 characters'),
            ({**LEASE, 'name': 7}, 'name: a string is required'),
            ({**LEASE, 'events': {}}, 'events: a list or null is required'),
            ({**LEASE, 'events': [7]}, 'events[0]: an object is required'),
            ({**LEASE, 'events': [{}]}, 'Missing parameter events[0].event_type'),
            ({**LEASE, 'events': [{'event_type': 'start_lease'}]}, 'events[0].event_type: one of'),
            ({**LEASE, 'reservations': 'x'}, 'reservations: a list or null is required'),
            ({**LEASE, 'reservations': [{}, {}]}, 'reservations[0].resource_type'),
            ({**LEASE, 'reservations': [{'resource_type': 'x'}] * 101}, 'at most 100 items'),
        ):
            self.assertIn(text, self.refused('create', V1_0, body))

    def test_unknown_fields_are_refused_at_1_1(self):
        self.assertEqual('Unknown field nmae', self.refused('create', V1_1, {**LEASE, 'nmae': 'x'}))
        event = {'event_type': 'notification', 'time': 'now', 'x': 1}
        text = self.refused('create', V1_1, {**LEASE, 'events': [event]})
        self.assertEqual('Unknown field events[0].x', text)
        self.assertEqual('Unknown field status', self.refused('update', V1_1, {'status': 'x'}))

    def test_notices(self):
        for notices in (None, [], [1], [3600, 60]):
            leases.check('create', V1_1, {**LEASE, 'notify_before_start': notices})
        for notices in (7, 'x', [0], [-1], ['60'], [1.5], [True], [10**12], [1] * 33):
            text = self.refused('create', V1_1, {**LEASE, 'notify_before_start': notices})
            self.assertIn('notify_before_start', text)


odd = st.sampled_from(
    [None, True, 0, 1, 1.0, 1.5, '', 'x', 'x' * 81, [], {}, [1], [None], {'a': 1}]
)
events = st.dictionaries(
    st.sampled_from(['event_type', 'time', 'event_date', 'x']),
    odd | st.just('notification'),
    max_size=3,
)
lines = st.dictionaries(st.sampled_from(['resource_type', 'id', 'min']), odd, max_size=3)
fields = st.fixed_dictionaries(
    {},
    optional={
        'name': odd,
        'start_date': odd,
        'end_date': odd,
        'duration': odd,
        'notify_before_start': odd | st.lists(st.sampled_from([60, 60.0, True, 0]), max_size=40),
        'notices': odd | st.lists(st.sampled_from(['started', 'x', 1]), max_size=2),
        'events': odd | st.lists(events, max_size=2),
        'reservations': odd | st.lists(lines, max_size=2),
    },
)


class CompiledTest(base.TestCase):
    """The code that is made of schemas says the same as jsonschema."""

    @hypothesis.given(fields, st.sampled_from(['create', 'update']))
    def test_bodies_of_leases(self, body, verb):
        for schema in leases.SCHEMAS[verb].values():
            slow = validation.Validator(schema, compiled=False)
            try:
                slow.check(body)
            except exceptions.InvalidInput as error:
                again = self.assertRaises(exceptions.InvalidInput, _compiled(schema).check, body)
                self.assertEqual(error.message, again.message)
            else:
                _compiled(schema).check(body)

    def test_only_the_first_faults_are_looked_for(self):
        weighed = []
        depth_first = faults._depth_first
        self.patch(
            validation, '_depth_first', lambda fault: (weighed.append(1), depth_first(fault))[1]
        )
        for wrong in ([1], [{'resource_type': 7}]):
            body = {**LEASE, 'reservations': wrong * 1000}
            self.assertRaises(exceptions.InvalidInput, leases.check, 'create', V1_1, body)
        self.assertLessEqual(len(weighed), 2 * 20)

    def test_further_out_comes_first(self):
        body = {**LEASE, 'events': [{'event_type': 'no such', 'x': 1}] * 100, 'duration': {}}
        self.assert_error(exceptions.InvalidInput, 'duration', leases.check, 'create', V1_1, body)


def _calls(function, *args):
    """Return how many functions are called; a measure of time that is always the same."""
    found = []
    sys.setprofile(lambda _frame, event, _arg: found.append(event) if event == 'call' else None)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return len(found)


class DifferentItemsTest(base.TestCase):
    """Lists whose items must differ."""

    def setUp(self):
        super().setUp()
        self.lists = {
            'alarms_before_start': feeds.CREATE,
            **dict.fromkeys(('same', 'same_as', 'spread', 'apart_from'), placements.PLACEMENT),
        }

    def test_twice_as_many_items_take_twice_as_long(self):
        def refused(validator, field, number):
            body = {field: [{'a': each} for each in range(number)]}
            self.assertRaises(exceptions.InvalidInput, validator.check, body)

        for field, schema in self.lists.items():
            validator = validation.Validator(schema)
            refused(validator, field, 1)
            few, many = (_calls(refused, validator, field, number) for number in (200, 400))
            self.assertLess(many, 3 * few)

    def test_the_same_twice(self):
        for field, item in (
            ('alarms_before_start', (60, 60.0)),
            ('same', ('rack', 'rack')),
            ('spread', ({'property': 'a', 'max_skew': 1}, {'max_skew': 1.0, 'property': 'a'})),
        ):
            validator = validation.Validator(self.lists[field])
            error = self.assertRaises(exceptions.InvalidInput, validator.check, {field: [*item]})
            self.assertIn(f'{field}: each item may be given once only', error.message)

    def test_different(self):
        for field, items in (('same', ['1', 'true']), ('apart_from', [0, 1])):
            validation.Validator(self.lists[field]).check({field: items})
            validation.Validator(self.lists[field], compiled=False).check({field: items})


def _compiled(schema):
    """Return the validator of a schema, made once."""
    return VALIDATORS.setdefault(id(schema), validation.Validator(schema))


VALIDATORS: dict[int, validation.Validator] = {}


SCHEMAS = CollectionSchemas(HOSTS)


class HostSchemasTest(base.TestCase):
    """Bodies of hosts."""

    def test_new(self):
        draft = SCHEMAS.read_new(
            V1_0,
            {'name': 'c1', 'gpu': True, 'n': 16, 'f': 1.5, 's': 'x', 'o': {'b': [1]}, 'none': None},
        )
        self.assertEqual('c1', draft.name)
        found = draft.capabilities
        self.assertEqual({'gpu': 'True', 'n': '16', 'f': '1.5', 's': 'x', 'o': '{"b": [1]}'}, found)
        draft = SCHEMAS.read_new(V1_0, {'id': 7})
        self.assertEqual(('7', {}), (draft.name, draft.capabilities))

    def test_change(self):
        found = SCHEMAS.read_change(V1_0, {'gpu': None, 'n': 2}).capabilities
        self.assertEqual({'gpu': None, 'n': '2'}, found)
        for body in ({}, {'name': 'c1'}):
            error = self.assertRaises(exceptions.InvalidInput, SCHEMAS.read_change, V1_0, body)
            self.assertEqual('No data to update', error.message)

    def test_no_name(self):
        for body in ({}, {'gpu': 'x'}):
            error = self.assertRaises(exceptions.MissingParameter, SCHEMAS.read_new, V1_0, body)
            self.assertEqual('Missing parameter name', error.message)

    def test_wrong_names(self):
        for name in ('', None, 7, [], True, 'x' * 256):
            with self.assertRaisesRegex(exceptions.InvalidInput, 'name'):
                SCHEMAS.read_new(V1_0, {'name': name})

    def test_wrong_capabilities(self):
        self.assert_error(
            exceptions.ExtraCapabilityTooLong,
            'Extra capability key too long',
            capabilities.read,
            {'k' * 65: 'x'},
            (),
        )
        capabilities.read({'k' * 64: 'x'}, ())
        for name in [*RESERVED_PROPERTIES, '', ' ']:
            self.assert_error(
                exceptions.MalformedParameter,
                name,
                capabilities.read,
                {name: 'x'},
                RESERVED_PROPERTIES,
            )
        self.assertRaises(exceptions.MalformedParameter, capabilities.read, {'k': 'x' * 20000}, ())


class PropertySchemasTest(base.TestCase):
    """Bodies of properties."""

    def test_private(self):
        self.assertIs(True, properties.read_private(V1_0, {'private': True}))
        self.assertIs(True, properties.read_private(V1_0, {'private': 'True'}))
        self.assertIs(False, properties.read_private(V1_0, {'private': 'false', 'x': 1}))
        self.assertIs(False, properties.read_private(V1_1, {'private': False}))

    def test_refused(self):
        for version, body in (
            (V1_0, {}), (V1_0, {'private': None}), (V1_0, {'private': ''}),
            (V1_0, {'private': 'maybe'}), (V1_0, {'private': []}), (V1_0, {'private': 3}),
            (V1_1, {'private': 'True'}),
        ):  # fmt: skip
            with self.assertRaisesRegex(exceptions.InvalidInput, 'private'):
                properties.read_private(version, body)


class BooleanTest(base.TestCase):
    """Booleans as words."""

    def test_words(self):
        for word in (True, 'True', 'true', '1', 'yes'):
            self.assertIs(True, validation.boolean('x', word))
        for word in (False, 'False', 'false', '0', '', 'None'):
            self.assertIs(False, validation.boolean('x', word))
        for word in (None, 'perhaps', 2, [], {}):
            self.assertRaises(exceptions.MalformedParameter, validation.boolean, 'x', word)
