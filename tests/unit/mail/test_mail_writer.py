# SPDX-License-Identifier: Apache-2.0

"""Mails: what is in them, and that no name of a lease can be more than a name."""

from __future__ import annotations

import datetime
import email
import email.policy
import pathlib
import re
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate import exceptions
from climate.mail import notices
from climate.mail.mail_writer import is_address
from climate.mail.mail_writer import LetterSettings
from climate.mail.mail_writer import MailWriter
from climate.mail.notices import Notice
from tests import base
from tests.base import FolderCase
from tests.unit.mail import samples

NOW = samples.NOW
SENDER = 'climate@example.org'


def letters(folder: pathlib.Path | None = None, api_url: str = '') -> MailWriter:
    """Return a writer of mails."""
    return MailWriter(LetterSettings(sender=SENDER, folder=folder, api_url=api_url))


def parsed(raw: bytes) -> email.message.EmailMessage:
    """Return a mail as its reader sees it."""
    found = email.message_from_bytes(raw, policy=email.policy.default)
    assert isinstance(found, email.message.EmailMessage)
    return found


class TestLetters(base.TestCase):
    """One mail."""

    def test_before_the_end_it_says_how_to_prolong(self) -> None:
        made = letters(api_url='https://climate:1234').one(
            samples.notice(), 'alice@example.org', 'Alice', NOW
        )
        read = parsed(made.as_bytes())
        self.assertEqual('Your lease "demo 1" ends in about 3 hours', read['Subject'])
        self.assertEqual((SENDER, 'alice@example.org'), (read['From'], read['To']))
        self.assertEqual('<one.message-1@example.org>', read['Message-ID'])
        self.assertEqual('auto-generated', read['Auto-Submitted'])
        self.assertEqual('lease-1', read['X-Climate-Lease'])
        self.assertEqual('Tue, 01 Jan 2030 11:00:00 +0000', read['Date'])
        body = samples.text(read)
        self.assertIn('Hello Alice,', body)
        self.assertIn('\n    openstack lease extend lease-1 --for 1d\n', body)
        self.assertNotIn('reservation lease', body)
        self.assertIn('2030-01-01 14:00 UTC', body)

    def test_each_kind_says_what_it_is_about(self) -> None:
        known = set(notices.TEXTS)
        for kind, word in (
            ('moved', 'another start now: 2030-01-01 11:00 UTC.\n\n    no host'),
            ('before_start', 'lease "demo 1" is starting'),
            ('started', 'has started'),
            (
                'yielding',
                'resources.\nIt is suspended, and resumes with the time that is left,\nas soon',
            ),
            ('yielded', 'waits: no host.'),
            ('resumed', 'has resumed. You have, until 2030-01-01 14:00 UTC'),
            ('server_yielding', 'project has\nfrom 2030-01-01 11:00 UTC on. Climate deletes'),
            ('before_end', 'ends in'),
            ('degraded', 'no host'),
            ('error', 'no host'),
        ):
            known.discard(kind)
            notice = samples.notice(kind=kind, reason='no host', mode='suspend')
            made = letters().one(notice, 'a@b', 'Alice', NOW)
            self.assertIn(word, samples.text(parsed(made.as_bytes())), kind)
        self.assertEqual(set(), known)
        resumes = NOW + datetime.timedelta(hours=4)
        notice = samples.notice(kind='yielding', mode='requeue', resumes=resumes)
        body = samples.text(parsed(letters().one(notice, 'a@b', 'Alice', NOW).as_bytes()))
        self.assertIn('room, as it looks now at 2030-01-01 15:00 UTC. You', body)
        self.assertIn('begins again from the start', body)

    @hypothesis.given(st.text(), st.text(), st.text())
    @hypothesis.example('x\r\nBcc: eve@example.org\r\n\r\nhello', 'x\nTo: eve', '\r')
    @hypothesis.example('$lease_id ${name} $$', '\ud800', '\x1b[31m\u202e')
    def test_no_name_is_a_header_or_a_placeholder(self, name: str, user: str, why: str) -> None:
        notice = samples.notice(name=name, reason=why, lease_id='l', kind='error')
        made = letters()
        for letter in (
            made.one(notice, 'alice@example.org', user, NOW),
            made.digest([notice, notice], 'alice@example.org', user, NOW),
        ):
            read = parsed(letter.as_bytes())
            self.assertEqual({'alice@example.org'}, {one.addr_spec for one in read['To'].addresses})
            known = {
                'subject',
                'from',
                'to',
                'date',
                'message-id',
                'auto-submitted',
                'x-climate-lease',
                'content-type',
                'content-transfer-encoding',
                'mime-version',
            }
            self.assertLessEqual({key.lower() for key in read}, known)
            self.assertEqual([], [one for one in ('\x1b', '\u202e') if one in samples.text(read)])
            letter.as_bytes().decode('ascii')

    def test_commands_and_links_are_in_one_piece(self) -> None:
        command = 'openstack server create ' + '--property a=b ' * 30 + 'NAME'
        notice = samples.notice(kind='started', uses=(('Use it', command),))
        for name, whole in (('demo', True), ('dämo', False)):
            notice = samples.notice(kind='started', name=name, uses=(('Use it', command),))
            raw = letters().one(notice, 'a@b', 'Alice', NOW).as_bytes()
            self.assertEqual(whole, command.encode() in raw)
            self.assertIn(command, samples.text(parsed(raw)))

    def test_many_in_one(self) -> None:
        notices = [samples.notice(number, reason='r') for number in range(1, 4)]
        read = parsed(letters().digest(notices, 'a@b', 'Alice', NOW).as_bytes())
        self.assertEqual('3 notices about your leases', read['Subject'])
        self.assertEqual('<digest.message-1@example.org>', read['Message-ID'])
        for number in range(1, 4):
            self.assertIn(f'Your lease "demo {number}" ends in about 3 hours', samples.text(read))

    def test_how_long_it_is(self) -> None:
        for seconds, words in (
            (-3600, 'has ended'),
            (-5, 'is ending'),
            (30, 'ends in less than a minute'),
            (60, 'ends in about 1 minute'),
            (3600, 'ends in about 1 hour'),
            (7300, 'ends in about 2 hours'),
            (86400 * 9, 'ends in about 9 days'),
        ):
            notice = samples.notice(end=NOW + datetime.timedelta(seconds=seconds))
            made = letters().one(notice, 'a@b', 'Alice', NOW)
            self.assertEqual(f'Your lease "demo 1" {words}', made['Subject'])
        started = samples.notice(kind='before_start', start=NOW)
        subject = letters().one(started, 'a@b', 'Alice', NOW)['Subject']
        self.assertEqual('Your lease "demo 1" is starting', subject)

    def test_what_has_failed(self) -> None:
        for operation, reason, words in (
            ('start_lease', 'no host', 'Climate could not start your lease "demo 1":'),
            ('end_lease', 'no host', 'Climate could not end your lease "demo 1":'),
            (
                'start_lease',
                'waiting: host-1',
                'Climate cannot start your lease "demo 1" yet, and keeps trying:',
            ),
            ('', 'no host', 'there is a problem with your lease "demo 1":'),
        ):
            notice = samples.notice(kind='error', operation=operation, reason=reason)
            text = samples.text(letters().one(notice, 'a@b', 'Alice', NOW))
            self.assert_contains(text, f'{words}\n\n    {reason}\n', 'name the ID of the lease')

    def test_at_the_start_it_says_what_one_has_and_how_to_use_it(self) -> None:
        command = 'openstack server create --hint reservation=r-1 NAME'
        notice = samples.notice(
            kind='started',
            project_name='physics',
            resources=('2 hosts: compute-3, compute-4 (reservation r-1)',),
            uses=(('Create a server on these hosts', command), ('VLAN of <the> network', '101')),
        )
        read = parsed(letters().one(notice, 'a@b', 'Alice', NOW).as_bytes())
        text, page = samples.text(read), read.get_body(('html',)).get_content()
        self.assertIn('\n  2 hosts: compute-3, compute-4 (reservation r-1)\n', text)
        self.assertIn(f'\nCreate a server on these hosts:\n\n    {command}\n', text)
        self.assertIn('\nVLAN of <the> network:\n\n    101\n', text)
        self.assertIn('<li>2 hosts: compute-3, compute-4 (reservation r-1)</li>', page)
        self.assertIn('\nProject:  physics\n', text)
        self.assertIn('<td>physics</td>', page)
        self.assert_contains(page, f'{command}</pre>', 'VLAN of &lt;the&gt; network')


class TestTexts(FolderCase):
    """Texts of the operator's own."""

    def write(self, text: str, name: str = 'before_end') -> None:
        (self.folder / f'{name}.txt').write_text(text)

    def test_one_of_them(self) -> None:
        self.write('Subject: Ende von $name\n\nKostet 5 $$, ${user_name}.\n')
        read = parsed(letters(self.folder).one(samples.notice(), 'a@b', 'Älice', NOW).as_bytes())
        self.assertEqual('Ende von demo 1', read['Subject'])
        self.assertEqual(['Kostet 5 $, Älice.'], samples.text(read).splitlines())
        others = letters(self.folder).one(samples.notice(kind='error'), 'a@b', 'A', NOW)
        self.assertEqual('A problem with your lease "demo 1"', others['Subject'])

    def test_an_error_is_reported_at_once(self) -> None:
        for text, why in (
            ('Hello', 'must begin with Subject:'),
            ('Subject: x\n\n$nobody', 'nothing is known for $nobody'),
            ('Subject: 5 $ each\n', 'a lone $'),
        ):
            self.write(text)
            error = self.assertRaises(exceptions.ConfigurationError, letters, self.folder)
            self.assert_contains(error.message, why, 'before_end.txt')

    def test_what_cannot_be_read(self) -> None:
        (self.folder / 'error.txt').write_bytes(b'Subject: \xff')
        self.assertRaises(exceptions.ConfigurationError, letters, self.folder)

    def test_a_sender_that_is_none(self) -> None:
        for sender in ('', 'climate', 'a b@c', 'a@b\nBcc: x@y'):
            with self.assertRaises(exceptions.ConfigurationError):
                MailWriter(LetterSettings(sender=sender))


class TestAddresses(base.TestCase):
    """What mail can be sent to."""

    def test_addresses(self) -> None:
        for good in ('a@b', 'alice+x@example.org', "o'neill@mail.example.org"):
            self.assertTrue(is_address(good), good)
        for bad in (
            '',
            'alice',
            '@b',
            'a@',
            'a@b@c',
            'a b@c',
            'a@b\r\nRCPT TO:<x@y>',
            'a@b,c@d',
            '<a@b>',
            'ä@b',
            'a@..',
            'a@-b',
            'a' * 250 + '@b.org',
            'a@b\x00',
        ):
            self.assertFalse(is_address(bad), bad)


class TestPages(FolderCase):
    """The part in HTML, the links, and the zones of times."""

    def settings(self, **facts: Any) -> LetterSettings:
        page = 'https://reservation.example.org/ui/'.rstrip('/')
        return LetterSettings(**{'sender': SENDER, 'page_url': page, **facts})

    def write(self, notice: Notice, time_zone: str = '', **facts: Any) -> tuple[str, str]:
        """Return the parts of a mail in plain text and in HTML."""
        made = MailWriter(self.settings(**facts)).one(notice, 'a@b', 'Alice', NOW, time_zone)
        read = parsed(made.as_bytes())
        page = read.get_body(('html',))
        return samples.text(read), '' if page is None else page.get_content()

    def test_each_notice_links_to_its_lease(self) -> None:
        link = 'https://reservation.example.org/ui/#/lease/lease-1'
        # The lease of another project is no business of a user.
        for kind in {*notices.TEXTS} - {'server_yielding'}:
            text, page = self.write(samples.notice(kind=kind))
            self.assertIn(f'<a href="{link}"', page, kind)
            self.assertIn(f'Page:     {link}\n', text, kind)
            self.assertNotIn('one click', text + page)

    def test_without_the_page_there_is_no_link(self) -> None:
        text, page = self.write(samples.notice(), page_url='')
        self.assertNotIn('/lease/', text + page)
        self.assertNotIn('href', page)

    def test_names_are_escaped(self) -> None:
        _, page = self.write(samples.notice(name='<img src=x onerror=alert(1)>"&{{ 7*7 }}'))
        self.assertNotIn('<img', page)
        self.assertNotIn('49', page)
        self.assertIn('&lt;img src=x onerror=alert(1)&gt;&#34;&amp;{{ 7*7 }}', page)

    def test_nothing_is_loaded_from_elsewhere(self) -> None:
        for kind in notices.TEXTS:
            _, page = self.write(samples.notice(kind=kind), page_url='')
            self.assertNotRegex(page, r'https?://|<script|<img|<link|@import|url\(')

    def test_times_are_in_the_zone_of_the_recipient_or_the_project(self) -> None:
        summer = datetime.datetime(2030, 7, 1, 12, tzinfo=datetime.UTC)
        notice = samples.notice(start=summer, end=summer + datetime.timedelta(days=184))
        zones = (('blue', 'Asia/Kolkata'),)
        found = [
            self.write(notice)[0],
            self.write(notice, time_zone='Europe/Berlin')[0],
            self.write(notice, 'America/New_York', project_time_zones=zones)[0],
            self.write(notice, 'nowhere', project_time_zones=zones)[0],
        ]
        starts = [re.search('From: +(.*)', text)[1].strip() for text in found]
        ends = [re.search('To: +(.*)', text)[1].strip() for text in found]
        expected = [
            '2030-07-01 12:00 UTC',
            '2030-07-01 14:00 CEST (UTC+02:00)',
            '2030-07-01 08:00 EDT (UTC-04:00)',
            '2030-07-01 17:30 IST (UTC+05:30)',
        ]
        self.assertEqual(expected, starts)
        self.assertEqual('2031-01-01 13:00 CET (UTC+01:00)', ends[1])

    def test_a_zone_that_is_none_stops_the_process(self) -> None:
        for facts in ({'time_zone': 'x'}, {'project_time_zones': (('blue', '../etc'),)}):
            self.assertRaises(exceptions.ConfigurationError, MailWriter, self.settings(**facts))

    def test_pages_of_the_operator(self) -> None:
        (self.folder / 'before_end.html').write_text('<p>{{ name }} {{ extend_url }}</p>')
        _, page = self.write(samples.notice(), folder=self.folder)
        url = 'https://reservation.example.org/ui/#/lease/lease-1'
        self.assertEqual(f'<p>demo 1 {url}</p>', page.strip())

    def test_a_bad_page_stops_the_process(self) -> None:
        for text in ('{{ nothing }}', '{% if %}', '{{ name.__class__.mro() }}'):
            (self.folder / 'error.html').write_text(text)
            settings = self.settings(folder=self.folder)
            self.assertRaises(exceptions.ConfigurationError, MailWriter, settings)

    def test_a_text_of_the_operator_has_no_page_of_climate(self) -> None:
        (self.folder / 'before_end.txt').write_text('Subject: x\n\n$name\n')
        self.assertEqual('', self.write(samples.notice(), folder=self.folder)[1])
        self.assertNotEqual('', self.write(samples.notice(kind='error'), folder=self.folder)[1])

    def test_plain_text_alone(self) -> None:
        self.assertEqual('', self.write(samples.notice(), html=False)[1])

    def test_a_digest_links_to_each_lease(self) -> None:
        notices = [samples.notice(number=number) for number in (1, 2)]
        read = parsed(MailWriter(self.settings()).digest(notices, 'a@b', 'Alice', NOW).as_bytes())
        page = read.get_body(('html',)).get_content()
        self.assertEqual(['lease-1', 'lease-2'], re.findall(r'#/lease/([^"]+)"', page))
        self.assertIn('\n  https://reservation.example.org/ui/#/lease/lease-2', samples.text(read))
