# SPDX-License-Identifier: Apache-2.0

"""Notices get to their owners through a real SMTP server, each once."""

from __future__ import annotations

import contextlib
import datetime
import pathlib
import sqlite3
from typing import Any

import fixtures

from climate import exceptions
from climate.clock import ManualClock
from climate.conf import mail as options
from climate.mail.mail_sender import MailSender
from climate.mail.mail_sender import PostSettings
from climate.mail.mail_writer import LetterSettings
from climate.mail.mail_writer import MailWriter
from climate.mail.people import People
from climate.mail.smtp import Smtp
from climate.mail.smtp import SmtpSettings
from climate.mail.spool import FILE
from climate.mail.spool import PENDING
from climate.mail.spool import Spool
from climate.messaging.subscriber import NotTaken
from climate.simulator import SimulatedCloud
from tests import base
from tests.functional.mail.server import PASSWORD
from tests.functional.mail.server import SmtpServer
from tests.functional.mail.server import USER
from tests.functional.processes import until
from tests.narrowing import present
from tests.unit.mail.samples import envelope
from tests.unit.mail.samples import NOW
from tests.unit.mail.samples import spooled

BEFORE_END = 'lease.event.before_end_lease'


class PostCase(base.TestCase):
    """A sender with a server of his own, and a clock in hand."""

    security = options.NONE
    login = False

    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.server = self.useFixture(SmtpServer(self.security, login=self.login))
        self.handler = self.server.handler
        self.clock = ManualClock(NOW)
        self.cloud = self.closing(SimulatedCloud(':memory:', clock=self.clock))
        self.cloud.set_email('alice', 'alice@example.org')
        self.cloud.set_email('bob', 'bob@example.org')
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'spool'

    def sender(self, template: str = '', smtp: Any = None, **settings: Any) -> MailSender:
        spool = self.closing(Spool(self.folder))
        self.spool = spool
        found = SmtpSettings(
            host='127.0.0.1',
            port=self.server.port,
            sender='climate@example.org',
            # A response takes long on a busy machine, and no test waits for a silent server.
            timeout=60.0,
            **{'security': self.security, **(smtp or {})},
        )
        letters = MailWriter(LetterSettings(sender='climate@example.org'))
        people = People(self.cloud.identity, template)
        post = PostSettings(**{'defaults': options.KINDS, **settings})
        to = {'letters': letters, 'people': people, 'server': Smtp(found)}
        return MailSender(spool=spool, clock=self.clock, settings=post, **to)

    def files(self, place: str) -> int:
        return spooled(self.folder, place)


class TestPostman(PostCase):
    """What is sent, and when."""

    def test_sent_once_however_often_it_is_reported(self) -> None:
        sender = self.sender()
        for _ in range(2):
            for number in (1, 2):
                sender.take(envelope(BEFORE_END, number))
            self.assertIsNone(sender.round())
        self.assertEqual(2, len(self.handler.letters))
        self.assertEqual({'alice@example.org'}, set(self.handler.recipients))
        self.assertEqual(1, self.handler.connections)
        self.spool.close()
        again = self.sender()
        again.take(envelope(BEFORE_END, 1))
        again.round()
        self.assertEqual(2, len(self.handler.letters))
        self.assertEqual((0, 2, 0), (self.files('pending'), self.files('done'), 0))

    def test_nothing_is_sent_to_who_wants_nothing(self) -> None:
        sender = self.sender(defaults=())
        sender.take(envelope(BEFORE_END))
        sender.take(envelope(BEFORE_END, 2, notices=['error']))
        sender.take(envelope('lease.create', 3, notices=['error']))
        sender.round()
        self.assertEqual([], self.handler.letters)

    def test_an_unavailable_server_loses_no_mail(self) -> None:
        sender = self.sender()
        self.server.close()
        for number in range(1, 4):
            sender.take(envelope(BEFORE_END, number))
        pauses = []
        for _ in range(4):
            next_try = present(sender.round())
            pauses.append((next_try - self.clock.now()).total_seconds())
            # Not before its time.
            self.assertEqual(next_try, sender.round())
            self.clock.move_to(next_try)
        self.assertEqual([30, 60, 120, 240], pauses)
        self.assertEqual(1, self.log.output.count('takes no mails: ConnectionRefusedError') // 4)
        self.spool.close()
        self.server.open()
        self.assertIsNone(self.sender().round())
        self.assertEqual(
            [f'Your lease "demo {number}" ends in about 3 hours' for number in range(1, 4)],
            sorted(self.handler.subjects),
        )

    def test_one_that_is_to_come_later_does_not_hold_up_the_others(self) -> None:
        self.handler.answers['DATA'] = ['451 the disk is full']
        sender = self.sender()
        for number in (1, 2):
            sender.take(envelope(BEFORE_END, number))
        next_try = sender.round()
        self.assertEqual(NOW + datetime.timedelta(seconds=30), next_try)
        self.assertEqual(1, len(self.handler.letters))
        assert next_try is not None
        self.clock.move_to(next_try)
        self.assertIsNone(sender.round())
        self.assertEqual(2, len({letter['Message-ID'] for letter in self.handler.letters}))

    def test_a_lost_answer_brings_the_same_mail_with_the_same_id(self) -> None:
        self.handler.forget = 1
        sender = self.sender()
        sender.take(envelope(BEFORE_END))
        self.clock.move_to(present(sender.round()))
        self.assertIsNone(sender.round())
        ids = [letter['Message-ID'] for letter in self.handler.letters]
        self.assertEqual(['<one.message-1@example.org>'] * 2, ids)

    def test_what_is_refused_for_good_is_put_aside_and_reported(self) -> None:
        self.handler.answers['RCPT'] = ['550 no such user']
        sender = self.sender()
        sender.take(envelope(BEFORE_END))
        self.assertIsNone(sender.round())
        self.assertEqual((0, 1), (self.files('pending'), self.files('failed')))
        self.assertIn(
            'Lease lease-1: before_end is not mailed to user alice: 550 no such user',
            self.log.output,
        )

    def test_given_up_after_a_while(self) -> None:
        self.server.close()
        sender = self.sender(give_up_after=100.0)
        sender.take(envelope(BEFORE_END))
        for _ in range(4):
            next_try = sender.round()
            if next_try is not None:
                self.clock.move_to(next_try)
        self.assertEqual((0, 1), (self.files('pending'), self.files('failed')))
        self.assertIn('is not mailed to user alice: the SMTP server takes no', self.log.output)

    def test_the_thread(self) -> None:
        sender = self.sender(retry_after=0.1)
        self.server.close()
        sender.start()
        self.addCleanup(sender.stop, 5.0)
        sender.take(envelope(BEFORE_END))
        until('it is tried', lambda: 'takes no mails' in self.log.output)
        self.server.open()
        self.clock.advance(5)
        until('it is sent', lambda: len(self.handler.letters) == 1)


class TestPeople(PostCase):
    """Whom it goes to."""

    def test_the_address_comes_from_keystone_or_the_template(self) -> None:
        self.cloud.set_email('carol', '')
        sender = self.sender(template='{user_name}@mail.example.org')
        for number, user in ((1, 'bob'), (2, 'carol')):
            sender.take(envelope(BEFORE_END, number, user_id=user))
        sender.round()
        found = sorted(self.handler.recipients)
        self.assertEqual(['bob@example.org', 'carol@mail.example.org'], found)

    def test_who_has_none_gets_no_notice_and_the_log_says_so(self) -> None:
        self.cloud.set_email('carol', '')
        self.cloud.set_email('eve', 'eve@x\r\nRCPT TO:<bob@example.org>')
        sender = self.sender()
        for number, user in enumerate(('nobody', 'carol', 'eve', 'bob'), 1):
            sender.take(envelope(BEFORE_END, number, user_id=user))
        sender.round()
        self.assertEqual(['bob@example.org'], self.handler.recipients)
        self.assertEqual(3, self.files('failed'))
        for why in (
            'has no user nobody',
            'carol has no address',
            'eve has an address that is none',
        ):
            self.assertIn(why, self.log.output)

    def test_an_unavailable_keystone_loses_no_mail(self) -> None:
        self.cloud.reachable = False
        sender = self.sender()
        for number in range(1, 9):
            sender.take(envelope(BEFORE_END, number, user_id=f'user-{number % 5}'))
        self.assertEqual(NOW + datetime.timedelta(seconds=30), sender.round())
        self.assertEqual(3, self.cloud.calls('identity.find_user'))
        self.cloud.reachable = True
        for number in range(5):
            self.cloud.set_email(f'user-{number}', f'{number}@example.org')
        self.clock.advance(30)
        self.assertIsNone(sender.round())
        self.assertEqual(8, len(self.handler.letters))

    def test_a_template_that_makes_no_address(self) -> None:
        for template in ('{user}@x', '{user_name', 'x', '{user_name.__class__.nothing}@x', '{0}@x'):
            self.assertRaises(exceptions.ConfigurationError, People, self.cloud.identity, template)


class TestTooMany(PostCase):
    """Nobody is flooded, and nothing is lost."""

    def test_what_is_too_much_comes_in_one(self) -> None:
        sender = self.sender(per_recipient=3)
        for number in range(1, 11):
            sender.take(envelope(BEFORE_END, number))
        sender.take(envelope(BEFORE_END, 11, user_id='bob'))
        self.assertIsNone(sender.round())
        self.assertEqual(4, len(self.handler.letters))
        (digest,) = [letter for letter in self.handler.letters if 'notices' in letter['Subject']]
        self.assertEqual('8 notices about your leases', digest['Subject'])
        text = ''.join(
            f'{one["Subject"]} {one.get_body(("plain",)).get_content()}'
            for one in self.handler.letters
        )
        for number in range(1, 11):
            self.assertIn(f'"demo {number}"', text)
        # Full, and still so after a restart.
        sender.take(envelope(BEFORE_END, 12))
        self.spool.close()
        again = self.sender(per_recipient=3)
        self.assertEqual(NOW + datetime.timedelta(hours=1), again.round())
        again.take(envelope(BEFORE_END, 13))
        self.assertEqual(4, len(self.handler.letters))
        self.clock.advance(3600)
        self.assertIsNone(again.round())
        self.assertEqual(6, len(self.handler.letters))
        self.assertIn('More than may be sent in an hour', self.log.output)

    def test_altogether(self) -> None:
        sender = self.sender(per_hour=2)
        for number, user in enumerate(('alice', 'bob', 'alice', 'bob'), 1):
            sender.take(envelope(BEFORE_END, number, user_id=user))
        sender.round()
        self.assertEqual(2, len(self.handler.letters))
        self.clock.advance(3600)
        self.assertIsNone(sender.round())
        text = '\n'.join(
            f'{letter["Subject"]} {letter.get_body(("plain",)).get_content()}'
            for letter in self.handler.letters
        )
        for number in range(1, 5):
            self.assertIn(f'"demo {number}"', text)


class TestSpool(PostCase):
    """The file."""

    def test_two_cannot_have_one(self) -> None:
        self.sender()
        self.assert_error(exceptions.ConfigurationError, 'in use', Spool, self.folder)

    def test_rubbish_is_put_aside(self) -> None:
        sender = self.sender()
        with contextlib.closing(sqlite3.connect(self.folder / FILE)) as connection:
            for number, text in enumerate(('', '{}', '[]', '{"notice": {"start": 7}}')):
                row = (str(number), PENDING, text)
                connection.execute('INSERT INTO notices (id, state, entry) VALUES (?, ?, ?)', row)
            connection.commit()
        sender.take(envelope(BEFORE_END))
        self.assertIsNone(sender.round())
        self.assertEqual(4, self.files('failed'))
        self.assertEqual(1, len(self.handler.letters))

    def test_a_notification_that_is_none(self) -> None:
        sender = self.sender()
        for payload in (None, 7, {}, {'start_date': 7}):
            sender.take({'event_type': BEFORE_END, 'message_id': 'x', 'payload': payload})
        self.assertIsNone(sender.round())
        self.assertIn('not as Climate sends them', self.log.output)

    def test_a_full_disk_gives_the_message_back(self) -> None:
        sender = self.sender()
        # The disk has no room for the journal.
        journal = self.folder / f'{FILE}-journal'
        journal.mkdir()
        self.assertRaises(NotTaken, sender.take, envelope(BEFORE_END))
        journal.rmdir()
        sender.take(envelope(BEFORE_END))
        sender.round()
        self.assertEqual(1, len(self.handler.letters))

    def test_what_was_sent_long_ago_is_forgotten(self) -> None:
        sender = self.sender()
        sender.take(envelope(BEFORE_END))
        sender.round()
        self.clock.advance(6 * 86400)
        sender.round()
        self.assertEqual(1, self.files('done'))
        self.clock.advance(2 * 86400)
        sender.round()
        self.assertEqual(0, self.files('done'))


class TestStarttls(PostCase):
    """A server that wants to be spoken to in private, and by somebody it knows."""

    security = options.STARTTLS
    login = True

    def settings(self, password: str = PASSWORD) -> dict[str, Any]:
        file = self.folder.parent / 'password'
        file.write_text(password + '\n')
        return {'cafile': self.server.cafile, 'username': USER, 'password_file': file}

    def sent(self, **smtp: Any) -> int:
        sender = self.sender(smtp=smtp)
        sender.take(envelope(BEFORE_END))
        sender.round()
        self.spool.close()
        return len(self.handler.letters)

    def test_let_in(self) -> None:
        self.assertEqual(1, self.sent(**self.settings()))

    def test_not_let_in_and_the_password_stays_secret(self) -> None:
        self.assertEqual(0, self.sent(**self.settings('wr0ng')))
        self.assertNotIn('wr0ng', self.log.output)
        self.assertEqual(1, self.files('pending'))
        self.clock.advance(60)
        self.assertEqual(1, self.sent(**self.settings()))

    def test_who_does_not_log_in_keeps_all(self) -> None:
        self.assertEqual(0, self.sent(cafile=self.server.cafile))
        self.assertEqual((1, 0), (self.files('pending'), self.files('failed')))
        self.assertIn('takes no mails', self.log.output)

    def test_a_server_without_a_trusted_certificate_gets_nothing(self) -> None:
        self.assertEqual(0, self.sent(**{**self.settings(), 'cafile': None}))
        self.assertIn('CERTIFICATE_VERIFY_FAILED', self.log.output)

    def test_a_cafile_that_is_not_there(self) -> None:
        self.assertRaises(exceptions.ConfigurationError, self.sender, smtp={'cafile': '/nowhere'})


class TestTls(TestStarttls):
    """One that is spoken to in private from the first byte."""

    security = options.TLS


class TestPlain(PostCase):
    """A server that cannot keep a secret."""

    def test_nothing_is_sent_where_encryption_is_wanted(self) -> None:
        sender = self.sender(smtp={'security': options.STARTTLS})
        sender.take(envelope(BEFORE_END))
        sender.round()
        self.assertEqual([], self.handler.letters)
        self.assertIn('STARTTLS', self.log.output)
