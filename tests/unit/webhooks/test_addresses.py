# SPDX-License-Identifier: Apache-2.0

"""Addresses and URLs that webhooks cannot reach."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time

from climate.webhooks import urls
from climate.webhooks.addresses import AddressRefused
from climate.webhooks.addresses import AddressRules
from climate.webhooks.posts import NotAccepted
from climate.webhooks.posts import Poster
from climate.webhooks.posts import PosterSettings
from tests import waiting
from tests.base import TestCase

PRIVATE = (
    '127.0.0.1',
    '127.8.9.10',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '192.0.0.1',
    '192.0.0.9',
    '192.0.2.1',
    '192.88.99.1',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '3fff::1',
    '2001:4860:4860::5efe:7f00:1',
    '2001:4860:4860:0:200:5efe:10.0.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:169.254.169.254',
    'fe80::1',
    'fec0::1',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '2001:0:0:0:0:0:80ff:fffe',
)
PUBLIC = ('1.1.1.1', '9.9.9.9', '2606:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101')


class TestRules(TestCase):
    """What is public and what is not."""

    def test_addresses_inside_are_refused(self) -> None:
        rules = AddressRules()
        self.assertEqual([], [text for text in PRIVATE if rules.allows(ipaddress.ip_address(text))])

    def test_public_ones_are_allowed(self) -> None:
        rules = AddressRules()
        refused = [text for text in PUBLIC if not rules.allows(ipaddress.ip_address(text))]
        self.assertEqual([], refused)

    def test_networks_of_the_operator(self) -> None:
        rules = AddressRules(
            [ipaddress.ip_network('10.1.0.0/16')],
            [ipaddress.ip_network('1.1.1.0/24'), ipaddress.ip_network('10.1.9.0/24')],
        )
        found = [
            rules.allows(ipaddress.ip_address(text))
            for text in ('10.1.2.3', '::ffff:10.1.2.3', '10.2.0.1', '10.1.9.1', '1.1.1.1')
        ]
        self.assertEqual([True, True, False, False, False], found)

    def test_a_name_with_several_addresses_uses_one_that_is_allowed(self) -> None:
        rules = AddressRules(resolve=lambda host, port: ['10.0.0.1', '1.1.1.1'])
        self.assertEqual('1.1.1.1', rules.resolve('example.org', 443))

    def test_names_that_lead_inside(self) -> None:
        for answer in (['127.0.0.1'], ['fe80::1%eth0'], ['::1', '10.0.0.1'], []):
            rules = AddressRules(resolve=lambda host, port, answer=answer: answer)
            self.assertRaises(AddressRefused, rules.resolve, 'example.org', 443)

    def test_numbers_that_are_addresses_to_the_resolver(self) -> None:
        """Such as 2130706433, which is 127.0.0.1."""
        for host in ('2130706433', '0x7f000001', '127.1', '0177.0.0.1'):
            self.assertRaises(AddressRefused, AddressRules().resolve, host, 80)

    def test_the_name_is_looked_up_once(self) -> None:
        """Its owner could answer differently the second time."""
        with socket.create_server(('127.0.0.1', 0)) as server:
            port, asked = server.getsockname()[1], []

            def resolve(host: str, number: int) -> list[str]:
                asked.append(host)
                return ['127.0.0.1'] if len(asked) == 1 else ['127.0.0.2']

            rules = AddressRules([ipaddress.ip_network('127.0.0.0/8')], resolve=resolve)
            poster = Poster(PosterSettings(allow_http=True, timeout=0.2), rules)
            self.assertRaises(NotAccepted, poster.post, f'http://example.org:{port}/', {}, b'')
            connection, peer = server.accept()
            connection.close()
        self.assertEqual((['example.org'], '127.0.0.1'), (asked, peer[0]))


class TestUrls(TestCase):
    """What a URL must look like."""

    def test_parts(self) -> None:
        found = urls.parse('https://example.org:8443/a/b?c=%20d', allow_http=False)
        self.assert_has(found, host='example.org', port=8443, target='/a/b?c=%20d')
        self.assertEqual('example.org:8443', found.authority)
        actual = urls.parse('https://example.org', allow_http=False).authority
        self.assertEqual('example.org', actual)
        self.assertEqual('[::1]:80', urls.parse('https://[::1]:80/', allow_http=False).authority)

    def test_bad_ones(self) -> None:
        for text in (
            '',
            'example.org',
            'ftp://example.org/',
            'file:///etc/passwd',
            'http://example.org/',
            'https:///path',
            'https://',
            'https://a@example.org/',
            'https://:b@example.org/',
            'https://example.org/#x',
            'https://example.org:0/',
            'https://example.org:99999/',
            'https://example.org:x/',
            'https://exa mple.org/',
            'https://example.org/\r\nX: y',
            'https://bücher.example/',
            'https://[::1/',
            'https://ex%61mple.org/',
            'https://example.org/' + 'a' * 2048,
        ):
            self.assertRaises(urls.BadUrl, urls.parse, text, allow_http=False)


class TestHostileReceivers(TestCase):
    """Receivers that take their time, or never stop."""

    def setUp(self) -> None:
        super().setUp()
        self.server = self.closing(socket.create_server(('127.0.0.1', 0)))
        settings = PosterSettings(
            allow_http=True, allowed=(ipaddress.ip_network('127.0.0.0/8'),), timeout=0.3
        )
        self.poster = Poster(settings)

    def answer(self, *parts: bytes, forever: bytes = b'') -> None:
        """Send a response to the next request, and then *forever* until it is cut off."""

        def run() -> None:
            connection, _ = self.server.accept()
            with connection:
                try:
                    # Closing with something unread would reset the connection.
                    connection.recv(65536)
                    for part in parts:
                        connection.sendall(part)
                    while forever:
                        connection.sendall(forever)
                        time.sleep(0.01)
                except OSError:
                    return

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)

    def post(self, scheme: str = 'http') -> int:
        url = f'{scheme}://127.0.0.1:{self.server.getsockname()[1]}/'
        with waiting.coming_back():
            return self.poster.post(url, {}, b'{}')

    def refusal(self, scheme: str = 'http') -> str:
        return str(self.assertRaises(NotAccepted, self.post, scheme))

    def test_silence(self) -> None:
        self.assertEqual('no response in time', self.refusal())

    def test_headers_that_trickle(self) -> None:
        self.answer(b'HTTP/1.1 200 OK\r\n', forever=b'X: y\r\n')
        self.assertIn(
            self.refusal(), ('no response in time', 'the connection failed: HTTPException')
        )

    def test_interim_responses_without_end(self) -> None:
        self.answer(forever=b'HTTP/1.1 100 Continue\r\n\r\n')
        self.assertEqual('no response in time', self.refusal())

    def test_a_handshake_that_trickles(self) -> None:
        self.answer(forever=b'\x16')
        self.assertNotEqual('', self.refusal('https'))

    def test_a_body_without_end(self) -> None:
        self.answer(b'HTTP/1.1 200 OK\r\n\r\n', forever=b'x' * 1000)
        self.assertEqual(200, self.post())

    def test_nonsense(self) -> None:
        self.answer(b'220 smtp.example.org ESMTP\r\n')
        self.assertEqual('the connection failed: BadStatusLine', self.refusal())
