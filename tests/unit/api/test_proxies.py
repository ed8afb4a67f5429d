# SPDX-License-Identifier: Apache-2.0

"""What proxies say is believed of ours only."""

from __future__ import annotations

from typing import Any

import webob

from climate.api.authentication.proxies import HEADERS
from climate.api.authentication.proxies import Proxies
from climate.api.middleware.middleware import HeaderSwitch
from tests import base
from tests import settings

SAID = {
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'cloud.example',
    'X-Forwarded-Prefix': '/reservation',
    'X-Forwarded-For': '198.51.100.7',
}


class ProxiesTest(base.TestCase):
    """An API behind proxies in one network."""

    def setUp(self) -> None:
        super().setUp()
        self.conf = settings.configured()
        self.headers: list[str] = []

    def seen(self, peer: str, headers: dict[str, str]) -> tuple[str, str]:
        """Return URL and address of a request as the API has it."""
        seen = {}

        def inner(environ: dict[str, Any], start_response: Any) -> Any:
            request = webob.Request(environ)
            seen['url'], seen['address'] = request.application_url, request.remote_addr
            seen['headers'] = [name for name in request.headers if 'Forwarded' in name]
            return webob.Response('ok')(environ, start_response)

        trusting = Proxies(inner, self.conf, ['192.0.2.0/24', '2001:db8::/32'])
        app = HeaderSwitch(HEADERS, trusting, inner)
        request = webob.Request.blank('/', headers=headers, remote_addr=peer)
        self.assertEqual('ok', request.get_response(app).text)
        self.headers = seen['headers']
        return seen['url'], seen['address']

    def test_of_ours(self) -> None:
        expected = ('https://cloud.example/reservation', '198.51.100.7')
        for peer in ('192.0.2.9', '2001:db8::1', '::ffff:192.0.2.9'):
            self.assertEqual(expected, self.seen(peer, SAID))

    def test_of_others(self) -> None:
        forwarded = {'Forwarded': 'for=10.0.0.1;host=evil.example;proto=https'}
        for peer in ('198.51.100.8', '2001:db9::1', '', 'unix:'):
            for said in (SAID, forwarded):
                self.assertEqual(('http://localhost', peer), self.seen(peer, said))
                self.assertEqual([], self.headers)

    def test_each_header_by_itself(self) -> None:
        """A request need not pass only if it has none of the headers."""
        forwarded = {'Forwarded': 'for=10.0.0.1;host=evil.example;proto=https'}
        for name, value in (SAID | forwarded).items():
            found = self.seen('198.51.100.8', {name: value})
            self.assertEqual(('http://localhost', '198.51.100.8'), found)
            self.assertEqual([], self.headers)
        self.assertEqual(('http://localhost', '192.0.2.9'), self.seen('192.0.2.9', {}))

    def test_unless_no_proxy_is_believed(self) -> None:
        Proxies(webob.Response('ok'), self.conf, [])
        self.conf.set_override('enable_proxy_headers_parsing', False, group='oslo_middleware')
        self.assertEqual(('http://localhost', '192.0.2.9'), self.seen('192.0.2.9', SAID))

    def test_addresses(self) -> None:
        for said, address in (
            ('198.51.100.7', '198.51.100.7'),
            # What the client itself has sent comes first, and counts for nothing.
            ('10.0.0.1, 198.51.100.7', '198.51.100.7'),
            ('10.0.0.1, 198.51.100.7, 192.0.2.8', '198.51.100.7'),
            ('198.51.100.7:4711', '198.51.100.7'),
            ('[2001:db9::1]:4711', '2001:db9::1'),
            ('nonsense', '192.0.2.9'),
            ('198.51.100.7, nonsense', '192.0.2.9'),
            ('', '192.0.2.9'),
        ):
            self.assertEqual(address, self.seen('192.0.2.9', {'X-Forwarded-For': said})[1], said)
        forwarded = {'Forwarded': 'for=10.0.0.1, for="[2001:db9::7]:80";proto=https, for=192.0.2.8'}
        self.assertEqual('2001:db9::7', self.seen('192.0.2.9', forwarded)[1])

    def test_forwarded_of_a_client(self) -> None:
        """Most proxies hand on what they do not set themselves."""
        evil = {'Forwarded': 'for=10.0.0.1;host=evil.example;proto=http'}
        expected = ('https://cloud.example/reservation', '198.51.100.7')
        self.assertEqual(expected, self.seen('192.0.2.9', {**evil, **SAID}))

    def test_forwarded_of_a_proxy(self) -> None:
        """Host and scheme are those that the client asked the outermost proxy of ours for."""
        said = (
            'for=10.0.0.1;host=evil.example;proto=http, '
            'for=198.51.100.7;host="cloud.example:444";proto=HTTPS, '
            'for=192.0.2.8;host=inner.example;proto=http'
        )
        found = self.seen('192.0.2.9', {'Forwarded': said})
        self.assertEqual(('https://cloud.example:444', '198.51.100.7'), found)

    def test_what_links_are_made_of(self) -> None:
        """A list is of the client first; what has another form counts for nothing."""
        for header, said, url in (
            ('Host', 'evil.example, cloud.example', 'http://cloud.example'),
            ('Host', '[2001:db8::1]:80', 'http://[2001:db8::1]'),
            ('Host', 'evil"><script>', 'http://localhost'),
            ('Host', 'user@evil.example/x', 'http://localhost'),
            ('Proto', 'http, https', 'https://localhost:80'),
            ('Proto', 'javascript', 'http://localhost'),
            ('Prefix', '/evil, /reservation/x', 'http://localhost/reservation/x'),
            ('Prefix', '/reservation/', 'http://localhost/reservation/'),
            ('Prefix', '//evil.example', 'http://localhost'),
            ('Prefix', 'x', 'http://localhost'),
        ):
            found, _ = self.seen('192.0.2.9', {f'X-Forwarded-{header}': said})
            self.assertEqual(url, found, said)

    def test_a_zone_of_an_address(self) -> None:
        said = {'X-Forwarded-For': 'fe80::1%eth0 GET /v1/leases 200, 192.0.2.8'}
        self.assertEqual('fe80::1', self.seen('192.0.2.9', said)[1])


class OptionTest(base.TestCase):
    """Networks in the configuration."""

    def test_networks(self) -> None:
        conf = settings.configured('api', trusted_proxies='192.0.2.0/24, 2001:db8::1')
        self.assertEqual(['192.0.2.0/24', '2001:db8::1/128'], conf.api.trusted_proxies)
        for wrong in ('192.0.2.1/24', 'proxy.example', '192.0.2.0/40'):
            self.assertRaises(ValueError, conf.set_override, 'trusted_proxies', wrong, group='api')
