# SPDX-License-Identifier: Apache-2.0

"""Payloads are what their schemas say, and hold no secrets."""

from __future__ import annotations

import datetime
import hashlib
import json
import pathlib
from typing import Any

import jsonschema

from climate.domain.periods import Period
from climate.messaging import payloads
from climate.messaging import schemas
from tests import base
from tests.unit.messaging import samples

# The fields of every version that was ever published. A change of fields
# makes a new line with a new version; lines are never changed.
PUBLISHED = {
    'lease.create 1.0': '6972acaa65bc9302',
    'lease.update 1.0': '6972acaa65bc9302',
    'lease.delete 1.0': '6972acaa65bc9302',
    'lease.event.before_start_lease 1.0': 'bd0fef9f8778fa92',
    'lease.event.start_lease 1.0': '9538f266d567459b',
    'lease.event.notification 1.0': '9538f266d567459b',
    'lease.event.before_end_lease 1.0': '38d2ade001b3888f',
    'lease.event.end_lease 1.0': '9538f266d567459b',
    'lease.event.error 1.0': '813cb19a6bc1c393',
    'lease.degraded 1.0': '745f409667174e55',
    'lease.rehomed 1.0': '22167554c8de560f',
    'lease.create 1.1': '7b8b551a69f33566',
    'lease.update 1.1': '7b8b551a69f33566',
    'lease.delete 1.1': '7b8b551a69f33566',
    'lease.event.before_start_lease 1.1': 'a7c045173a835380',
    'lease.event.start_lease 1.1': 'df8f00a25b529902',
    'lease.event.notification 1.1': 'df8f00a25b529902',
    'lease.event.before_end_lease 1.1': '72410236385d773e',
    'lease.event.end_lease 1.1': 'df8f00a25b529902',
    'lease.event.error 1.1': '7143c35fa8e105f4',
    'lease.degraded 1.1': 'd0eac658adfe3d88',
    'lease.moved 1.0': '9d4a7a23830b745c',
    'lease.yielding 1.0': 'b4395d6c3a8f50f2',
    'lease.yielded 1.0': '12fee8557a971ea8',
    'lease.rehomed 1.1': '2abf1647aa11e09f',
    'lease.ready 1.0': '6c306d0fe609ced7',
    'lease.not_ready 1.0': '91e6e8df24ea264b',
    'lease.server.yielding 1.0': '5b49c63094d00c64',
    'lease.server.deleted 1.0': 'fb91a7ef292ee9e6',
    'lease.object.deleted 1.0': 'fb91a7ef292ee9e6',
    'lease.trust.lost 1.0': 'd0eac658adfe3d88',
    'webhook.stopped 1.0': 'c72d04891d64ff1b',
    'feed.stopped 1.0': 'c72d04891d64ff1b',
    'resource.degraded 1.0': '338cf89429ab1f46',
    'resource.reduced 1.0': '338cf89429ab1f46',
    'resource.recovered 1.0': '338cf89429ab1f46',
    'lease.event.before_start_lease 1.2': '230977096f4b3895',
    'lease.event.start_lease 1.2': 'd4cec8a444c1312e',
    'lease.event.start_lease 1.3': '251c6c4d6193aa20',
    'lease.event.before_end_lease 1.2': 'f2bf63ce75ddc940',
    'lease.event.error 1.2': '2df4c39f457a7473',
    'lease.degraded 1.2': '520e5c7b69b67a77',
    'lease.not_ready 1.1': '79266d1b421c71e5',
    'lease.trust.lost 1.1': '520e5c7b69b67a77',
}

REFERENCE = pathlib.Path(__file__).parents[3] / 'doc/source/reference/notifications.rst'


def fingerprint(schema: Any) -> str:
    return hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()[:16]


def fields(schema: Any) -> set[str]:
    inner = [*schema.get('properties', {}).values()]
    if 'items' in schema:
        inner.append(schema['items'])
    names = set(schema.get('properties', ()))
    for one in inner:
        names |= fields(one)
    return names


def _counted(reservation: dict[str, Any]) -> tuple[int, str, str]:
    return reservation['resources_count'], reservation['noun'], reservation['noun_one']


class TestSchemas(base.TestCase):
    """A change of fields is a new version, and is documented."""

    def test_fields_are_those_of_the_version(self) -> None:
        now = {
            f'{name} {schemas.VERSIONS[name]}': fingerprint(schema)
            for name, schema in schemas.SCHEMAS.items()
        }
        for version, found in now.items():
            self.assertEqual(
                PUBLISHED.get(version),
                found,
                f'The fields of {version} are not those it was published with: raise the '
                f'version in climate/messaging/schemas.py and add the line here',
            )

    def test_schemas_are_valid_and_closed(self) -> None:
        for schema in schemas.SCHEMAS.values():
            jsonschema.Draft202012Validator.check_schema(schema)
            self.assertFalse(schema['additionalProperties'])
            self.assertEqual(sorted(schema['properties']), schema['required'])

    def test_every_type_has_a_version(self) -> None:
        self.assertEqual(set(schemas.SCHEMAS), set(schemas.VERSIONS))

    def test_the_reference_names_every_type_version_and_field(self) -> None:
        text = REFERENCE.read_text(encoding='utf-8')
        for name, schema in schemas.SCHEMAS.items():
            self.assertIn(f'``{name}``', text)
            for field in fields(schema):
                self.assertIn(f'``{field}``', text, f'{field} of {name}')


class TestBuild(base.TestCase):
    """What is built validates, and says what is so."""

    def test_every_payload_validates(self) -> None:
        for event_type, schema in schemas.SCHEMAS.items():
            payload = samples.payload(event_type)
            jsonschema.validate(payload, schema)
            self.assertEqual(payload, json.loads(json.dumps(payload)))

    def test_a_field_too_many_does_not_validate(self) -> None:
        payload = {**samples.payload('lease.create'), 'trust_id': None}
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(payload, schemas.SCHEMAS['lease.create'])

    def test_no_secret_is_in_any(self) -> None:
        for event_type in schemas.SCHEMAS:
            text = json.dumps(samples.payload(event_type))
            self.assertNotIn(samples.SECRET, text)
            self.assertNotIn('trust', text)
            self.assertNotIn('token', text)

    def test_the_request_is_described(self) -> None:
        first, second = samples.payload('lease.create')['reservations']
        expected = {
            'min': 1,
            'max': 2,
            'resource_properties': '[">=", "$vcpus", "8"]',
            'nested': [{'fine': True}],
        }
        self.assertEqual(expected, first['request'])
        self.assertEqual((17, 'r1'), (first['aggregate_id'], first['aggregate_name']))
        self.assertEqual({}, second['request'])
        self.assertEqual((None, None), (second['aggregate_id'], second['aggregate_name']))

    def test_held_resources_are_shown_to_owners(self) -> None:
        for event_type in schemas.EXTRA:
            first, _ = samples.payload(event_type)['reservations']
            self.assertEqual(event_type in schemas.HELD, 'resources' in first, event_type)
        first, second = samples.payload('lease.event.start_lease')['reservations']
        expected = [{'id': '1', 'name': 'compute-1'}, {'id': '2', 'name': 'compute-2'}]
        self.assertEqual(expected, first['resources'])
        self.assertEqual((2, 'hosts', 'host'), _counted(first))
        self.assertEqual([samples.USE], first['instructions'])
        self.assertEqual((0, 'networks', 'network'), _counted(second))

    def test_internal_events_are_not_shown(self) -> None:
        self.assertEqual(
            {'start_lease', 'end_lease', 'before_end_lease', 'before_start_lease', 'notification'},
            {event['event_type'] for event in samples.payload('lease.create')['events']},
        )

    def test_dates_are_utc_with_microseconds(self) -> None:
        zone = datetime.timezone(datetime.timedelta(hours=2))
        period = Period(start=samples.START.astimezone(zone), end=samples.END)
        payload = samples.payload('lease.create', of=samples.lease(period=period))
        self.assertEqual('2030-01-01T12:00:00.000000', payload['start_date'])
        self.assertEqual('2029-12-31T12:00:00.000000', payload['created_at'])
        self.assertIsNone(payload['updated_at'])

    def test_seconds_to_start_are_whole_and_never_negative(self) -> None:
        for before, expected in ((30.0, 30), (29.98, 30), (0.2, 0), (-5.0, 0)):
            now = samples.START - datetime.timedelta(seconds=before)
            payload = samples.payload('lease.event.before_start_lease', now=now)
            self.assertEqual(expected, payload['seconds_to_start'])
            self.assertIsInstance(payload['seconds_to_start'], int)

    def test_lateness_is_reported(self) -> None:
        now = samples.START + datetime.timedelta(seconds=12.5)
        payload = samples.payload('lease.event.start_lease', now=now)
        self.assertEqual(12.5, payload['late_by_seconds'])
        self.assertEqual('id-of-start_lease', payload['event_id'])
        self.assertEqual('2030-01-01T12:00:00.000000', payload['event_time'])

    def test_an_error_says_what_failed_and_why(self) -> None:
        payload = samples.payload('lease.event.error')
        self.assert_has(payload, event_type='start_lease', reason='Nova is away')
        self.assertEqual('ERROR', payloads.priority('lease.event.error'))
        self.assertEqual('INFO', payloads.priority('lease.create'))

    def test_what_the_owner_asked_for_is_reported(self) -> None:
        self.assertEqual(['started', 'error'], samples.payload('lease.create')['notices'])
        for notices, expected in (((), []), (None, None)):
            of = samples.lease(notices=notices)
            self.assertEqual(expected, samples.payload('lease.create', of=of)['notices'])

    def test_readiness_is_reported(self) -> None:
        payload = samples.payload('lease.not_ready')
        self.assert_has(payload, ready=['compute-1'], waiting=['compute-2'], by='climate-power')
        self.assertEqual('id-of-start_lease', payload['event_id'])

    def test_an_event_is_required_where_one_is_reported(self) -> None:
        with self.assertRaises(ValueError):
            payloads.build('lease.event.start_lease', samples.lease(), now=samples.START)

    def test_an_unknown_type_is_refused(self) -> None:
        with self.assertRaises(KeyError):
            payloads.build('lease.sold', samples.lease(), now=samples.START)
