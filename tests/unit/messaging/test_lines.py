# SPDX-License-Identifier: Apache-2.0

"""Notifications as people read them."""

from __future__ import annotations

import datetime

from climate.messaging import lines
from climate.messaging import publisher
from climate.messaging import schemas
from tests import base
from tests.unit.messaging import samples

WHO = 'demo (l1) of project p1'


def envelope(event_type: str, *, now: datetime.datetime = samples.START) -> dict[str, object]:
    return publisher.envelope(
        publisher.OutboxMessage(
            id='m1',
            event_type=event_type,
            payload=samples.payload(event_type, now=now),
            created_at=now,
        ),
        'climate.lease',
    )


def _who(event_type: str) -> str:
    if event_type.startswith('resource.'):
        return 'physical:host compute-7'
    other = event_type in samples.DELETIONS or event_type == schemas.SERVER_YIELDING
    return 'lease l1' if other else WHO


class TestLine(base.TestCase):
    """One line, whatever comes."""

    def test_a_start_is_announced(self) -> None:
        now = samples.START - datetime.timedelta(seconds=30)
        expected = f'2030-01-01 11:59:30Z  lease.event.before_start_lease  {WHO}: starts in 30 s'
        self.assertEqual(expected, lines.line(envelope('lease.event.before_start_lease', now=now)))

    def test_every_type_says_something(self) -> None:
        for event_type in schemas.SCHEMAS:
            text = lines.line(envelope(event_type))
            who = _who(event_type)
            self.assertIn(f'  {event_type}  {who}: ', text)
            self.assertNotIn('None', text)

    def test_lateness_is_shown(self) -> None:
        late = samples.START + datetime.timedelta(seconds=95)
        self.assertIn('started, 1 min 35 s late', self._line('lease.event.start_lease', late))

    def test_a_blink_is_not_late(self) -> None:
        late = samples.START + datetime.timedelta(seconds=0.4)
        self.assertNotIn('late', self._line('lease.event.start_lease', late).split(':')[-1])

    def _line(self, event_type: str, now: datetime.datetime) -> str:
        return lines.line(envelope(event_type, now=now))

    def test_an_error_says_why(self) -> None:
        self.assertIn('start_lease failed: Nova is away', lines.line(envelope('lease.event.error')))

    def test_a_move_says_from_where_to_where_and_why(self) -> None:
        text = lines.line(envelope('lease.rehomed'))
        self.assertIn('compute-1 replaced by compute-2: Nova is away', text)

    def test_what_is_ready_and_what_is_not(self) -> None:
        self.assertIn(
            'climate-power says that compute-1 is ready', lines.line(envelope('lease.ready'))
        )
        self.assertIn('compute-2 is not ready yet', lines.line(envelope('lease.not_ready')))

    def test_a_deletion_names_the_object_and_its_owner(self) -> None:
        self.assertIn(
            'server o1 (web) of project p2 on host compute-1 deleted: the lease starts',
            lines.line(envelope('lease.server.deleted')),
        )

    def test_a_notice_names_the_server_and_when_it_goes(self) -> None:
        self.assertIn(
            'server o1 (web) of project p2 on host compute-1 will be deleted at '
            '2030-01-01 12:00:00Z: it runs on a host',
            lines.line(envelope('lease.server.yielding')),
        )

    def test_times_in_another_zone(self) -> None:
        zone = datetime.timezone(datetime.timedelta(hours=2))
        text = lines.line(envelope('lease.create'), zone)
        self.assertTrue(text.startswith('2030-01-01 14:00:00+02:00  '), text)
        self.assertIn('from 2030-01-01 14:00:00+02:00 to 2030-01-01 15:00:00+02:00', text)

    def test_a_name_cannot_move_the_cursor(self) -> None:
        message = envelope('lease.event.start_lease')
        message['payload'] = {'lease_id': 'l1', 'name': 'a\x1b[2Jb\nc', 'project_id': 'p'}
        self.assertIn('a?[2Jb?c (l1)', lines.line(message))

    def test_what_others_send_is_a_line_too(self) -> None:
        for strange in ({}, {'payload': 7}, {'event_type': 'x', 'timestamp': 'now'}):
            self.assertNotIn('\n', lines.line(strange))
        text = lines.line({'event_type': 'compute.start', 'publisher_id': 'nova.h1'})
        self.assertEqual('?  compute.start  from nova.h1', text)

    def test_a_payload_of_another_version_is_a_line_too(self) -> None:
        for event_type in schemas.SCHEMAS:
            text = lines.line({'event_type': event_type, 'payload': {'lease_id': 'l1'}})
            self.assertIn('? (l1)', text)


class TestDuration(base.TestCase):
    """Seconds as people say them."""

    def test_units(self) -> None:
        for seconds, text in (
            (0, '0 s'),
            (0.4, '0 s'),
            (59.6, '1 min'),
            (30, '30 s'),
            (300, '5 min'),
            (3600, '1 h'),
            (5400, '1 h 30 min'),
            (90061, '1 d 1 h'),
        ):
            self.assertEqual(text, lines.duration(seconds))
