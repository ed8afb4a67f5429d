# SPDX-License-Identifier: Apache-2.0

"""Notifications become notices for those who want them, and nothing else does."""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import Any

from climate.conf import mail as options
from climate.domain.leases import NOTICES
from climate.mail import notices
from climate.mail.mail_sender import PostSettings
from climate.messaging import publisher
from climate.messaging import schemas
from tests import base
from tests.narrowing import present
from tests.unit.mail import samples
from tests.unit.messaging import samples as messages

BEFORE_START = 'lease.event.before_start_lease'


def _dumped(notice: notices.Notice) -> str:
    return json.dumps(dataclasses.asdict(notice), default=datetime.datetime.isoformat)


def _of(notice: notices.Notice) -> tuple[str, str, str]:
    return notice.lease_id, notice.name, notice.user_id


class TestRead(base.TestCase):
    """What a notification means."""

    def test_each_kind(self) -> None:
        self.assertEqual(set(options.KINDS), set(notices.KINDS.values()))
        self.assertEqual(NOTICES, options.KINDS)
        self.assertLessEqual(set(notices.KINDS), set(schemas.VERSIONS))
        for event_type, kind in notices.KINDS.items():
            found = present(notices.read(samples.envelope(event_type), options.KINDS))
            text = 'yielded' if event_type == 'lease.yielded' else kind
            self.assertEqual((text, 'message-1', 'alice'), (found.kind, found.id, found.user_id))
            self.assertEqual((12, 14), (found.start.hour, found.end.hour))
            self.assertEqual(('physical:host, pending',), found.resources)

    def test_as_climate_sends_them(self) -> None:
        for event_type, kind in notices.KINDS.items():
            said = publisher.OutboxMessage(
                id='1',
                event_type=event_type,
                payload=messages.payload(event_type, of=messages.lease(notices=(kind,))),
                created_at=messages.CREATED,
            )
            found = present(notices.read(publisher.envelope(said, 'climate.lease'), ()))
            text = 'yielded' if event_type == 'lease.yielded' else kind
            self.assertEqual((text, 'l1', 'demo', 'u1'), (found.kind, *_of(found)))
            self.assertEqual((messages.START, messages.END), (found.start, found.end))
            self.assertEqual(
                ('2 hosts: compute-1, compute-2 (reservation r1)', '1 network (reservation r2)'),
                found.resources,
            )
            self.assertEqual('physics', found.project_name)
            self.assertEqual(((messages.USE['title'], messages.USE['command']),), found.uses)
            self.assertEqual(found, notices.Notice.load(json.loads(_dumped(found))))
            why = {
                'moved': ('Nova is away',),
                'degraded': ('Nova is away', 'not ready: compute-2'),
                'error': ('Nova is away',),
                'yielded': ('Nova is away',),
            }
            self.assertIn(found.reason, why.get(found.kind, ('',)))

    def test_starts_are_announced_to_owners_in_good_time(self) -> None:
        for left, wanted, sent in (
            (300, None, True),
            (299, None, False),
            (60, ['before_start'], True),
        ):
            envelope = samples.envelope(
                'lease.event.before_start_lease', seconds_to_start=left, notices=wanted
            )
            found = notices.read(envelope, ('before_start',), least_before_start=300)
            self.assertEqual(sent, found is not None, (left, wanted))

    def test_reminders_are_on_by_default(self) -> None:
        settings = PostSettings()
        self.assertLessEqual({'before_start', 'before_end'}, set(settings.defaults))
        self.assertGreaterEqual(settings.least_before_start, 60)

    def test_settings_of_owners_override_the_defaults(self) -> None:
        said: tuple[tuple[Any, bool], ...] = (
            (['started'], False),
            (['before_start', 'error'], True),
            (None, True),
            ([], False),
        )
        for wanted, expected in said:
            envelope = samples.envelope(BEFORE_START, notices=wanted)
            self.assertEqual(expected, notices.read(envelope, ['before_start']) is not None)
        self.assertIsNone(notices.read(samples.envelope(BEFORE_START), []))

    def test_what_is_no_notice(self) -> None:
        for event_type in ('lease.create', 'lease.event.end_lease', 'service.update'):
            self.assertIsNone(notices.read(samples.envelope(event_type), options.KINDS))

    def test_a_start_is_reported_once_and_again_when_it_moves(self) -> None:
        def key(number: int, **changes: Any) -> str:
            found = notices.read(
                samples.envelope(BEFORE_START, number, lease_id='one', **changes), options.KINDS
            )
            assert found is not None
            return found.key

        self.assertEqual(key(1), key(2))
        self.assertNotEqual(key(1), key(3, start_date='2030-01-01T13:00:00.000000'))
        self.assertNotEqual(key(1), notices.read(samples.envelope('lease.degraded'), options.KINDS))

    def test_moves_are_reported_once_a_day_unless_it_starts_soon(self) -> None:
        def key(number: int, left: int, day: int = 1) -> str:
            facts = {'lease_id': 'one', 'updated_at': f'2030-01-0{day}T10:00:00.000000'}
            envelope = samples.envelope(
                'lease.moved', number, seconds_to_start=left, reason='moved forward', **facts
            )
            found = present(notices.read(envelope, ['moved'], 120))
            self.assertEqual(('moved', 'moved forward'), (found.kind, found.reason))
            return found.key

        day = 86400
        self.assertEqual(key(1, 3 * day), key(2, 2 * day))
        self.assertNotEqual(key(1, 3 * day), key(2, 3 * day, day=2))
        self.assertEqual(3, len({key(1, 3 * day), key(2, day), key(3, 60)}))

    def test_what_resumes(self) -> None:
        envelope = samples.envelope('lease.event.start_lease', resumed=True)
        self.assertEqual('resumed', present(notices.read(envelope, ['yielding'])).kind)
        self.assertIsNone(notices.read(envelope, ['started']))
        at = '2030-01-01T15:00:00.000000'
        envelope = samples.envelope('lease.yielding', resumes_at=at, **{'yield': 'suspend'})
        found = present(notices.read(envelope, ['yielding']))
        self.assertEqual(('suspend', 15), (found.mode, present(found.resumes).hour))
        self.assertEqual(found, notices.Notice.load(json.loads(_dumped(found))))

    def test_servers_in_the_way_of_a_lease(self) -> None:
        said = publisher.OutboxMessage(
            id='1',
            event_type=notices.SERVER,
            payload=messages.payload(notices.SERVER),
            created_at=messages.CREATED,
        )
        envelope = publisher.envelope(said, 'climate.lease')
        self.assertIsNone(notices.read(envelope, ['error']))
        found = present(notices.read(envelope, ['yielding']))
        self.assertEqual(
            ('server_yielding', 'web', 'u2', 'p2'),
            (found.kind, found.name, found.user_id, found.project_id),
        )
        self.assertEqual(messages.START, found.start)
        self.assertEqual(('server o1',), found.resources)

    def test_who_is_not_ready(self) -> None:
        envelope = samples.envelope(
            'lease.not_ready', ready=['compute-1'], waiting=['compute-2'], detail='it boots'
        )
        found = present(notices.read(envelope, options.KINDS))
        self.assertEqual('not ready: compute-2 (it boots)', found.reason)

    def test_it_survives_a_file(self) -> None:
        for reason in ('', 'no\nhost ä \ud800'):
            notice = samples.notice(reason=reason)
            text = json.dumps(dataclasses.asdict(notice), default=datetime.datetime.isoformat)
            self.assertEqual(notice, notices.Notice.load(json.loads(text)))
