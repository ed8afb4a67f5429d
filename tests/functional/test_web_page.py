# SPDX-License-Identifier: Apache-2.0

"""The web page and its sessions, with a Keystone that answers over HTTP."""

from __future__ import annotations

import gzip
import json
import logging
import pathlib
from typing import Any

import fixtures
import webob

from climate.api.middleware import web_page
from tests import base
from tests.functional import http
from tests.functional.fixtures import Service
from tests.functional.guarded import GuardedService
from tests.functional.keystone import PASSWORD
from tests.functional.keystone import SECRET

PAGE = {'X-Climate-UI': '1'}
HERE = 'http://localhost'
ENTERED = {'username': 'alice', 'password': PASSWORD, 'project': 'blue'}


class PageCase(base.TestCase):
    """A service that serves the page."""

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> webob.Response:
        """Send a request without a token; ``x_climate_ui`` becomes ``X-Climate-Ui``."""
        request = webob.Request.blank(path, method=method, base_url=self.base_url)
        if body is not None:
            request.body = body if isinstance(body, bytes) else json.dumps(body).encode()
            request.content_type = 'application/json'
        request.headers['OpenStack-API-Version'] = 'reservation 1.5'
        for name, text in headers.items():
            request.headers[name.replace('_', '-')] = text
        return request.get_response(self.app)

    base_url = HERE


class TestSessions(PageCase):
    """With Keystone."""

    def setUp(self) -> None:
        super().setUp()
        guarded = self.useFixture(GuardedService())
        self.keystone, self.service = guarded.keystone, guarded.service
        self.app = self.service.made()

    def sign_in(self, body: Any = ENTERED, **headers: str) -> webob.Response:
        return self.send('POST', '/ui/session', body, **{'X-Climate-UI': '1', **headers})

    def cookie(self, **headers: str) -> str:
        """Sign in; return the cookie as a browser sends it."""
        answer = http.expect(201, self.sign_in(**headers))
        return str(answer.headers['Set-Cookie']).partition(';')[0]

    def test_a_session(self) -> None:
        answer = self.sign_in(Origin=HERE, Sec_Fetch_Site='same-origin')
        self.assertEqual((201, ['expires_at']), (answer.status_int, list(answer.json)))
        self.assertEqual('no-store', answer.headers['Cache-Control'])
        cookie, *attributes = answer.headers['Set-Cookie'].split('; ')
        self.assertEqual('climate_session=token-of-alice', cookie)
        self.assertLessEqual({'HttpOnly', 'Path=/', 'SameSite=strict'}, set(attributes))
        self.assertNotIn('secure', attributes)
        me = http.expect(200, self.send('GET', '/v1/me', Cookie=cookie, **PAGE))
        self.assert_has(me.json['me'], project_name='the blue', user_name='alice')
        self.assertEqual(answer.json['expires_at'][:13], me.json['me']['token_expires_at'][:13])
        shown = self.send('GET', '/ui/session', Cookie=cookie).json
        self.assertEqual({'auth_strategy': 'keystone', 'signed_in': True, 'sso': []}, shown)
        gone = http.expect(204, self.send('DELETE', '/ui/session', Cookie=cookie, **PAGE))
        self.assertIn('Max-Age=0', gone.headers['Set-Cookie'])
        self.assertNotIn('token-of-alice', self.keystone.tokens)
        self.assertFalse(self.send('GET', '/ui/session').json['signed_in'])

    def test_a_token_is_of_no_use_after_its_user_has_signed_out(self) -> None:
        """In no process, although tokens are cached for minutes."""
        here, there = self.app, self.service.made()
        cookie = self.cookie()
        for self.app in (here, there, here):
            self.assertEqual(200, self.send('GET', '/v1/me', Cookie=cookie, **PAGE).status_int)
        self.send('DELETE', '/ui/session', Cookie=cookie, **PAGE)
        for self.app in (here, there):
            self.assertEqual(401, self.send('GET', '/v1/me', Cookie=cookie, **PAGE).status_int)
            http.expect(401, self.send('GET', '/v1/me', X_Auth_Token='token-of-alice'))

    def test_other_tokens_are_cached(self) -> None:
        before = len(self.keystone.asked)
        for _ in range(3):
            self.assertEqual(200, self.send('GET', '/v1/me', X_Auth_Token='brought').status_int)
        validated = [one for one in self.keystone.asked[before:] if one == 'GET /v3/auth/tokens']
        self.assertEqual(1, len(validated))

    def test_a_cookie_alone_is_nothing(self) -> None:
        cookie, body = self.cookie(), {**http.LEASE, 'events': []}
        for method, path, sent in (('GET', '/v1/me', None), ('POST', '/v1/leases', body)):
            self.assertEqual(401, self.send(method, path, sent, Cookie=cookie).status_int)
            for value in ('0', 'yes', ''):
                http.expect(401, self.send(method, path, sent, Cookie=cookie, X_Climate_UI=value))
        self.assertEqual([], self.service.rows()['leases'])
        made = self.send('POST', '/v1/leases', body, Cookie=cookie, Origin=HERE, **PAGE)
        self.assertNotIn(made.status_int, (401, 403), made.text)

    def test_other_origins(self) -> None:
        cookie = self.cookie()
        for headers in (
            {'Origin': 'http://evil.example'},
            {'Origin': 'null'},
            {'Origin': ''},
            {'Origin': 'http://localhost:8080'},
            {'Origin': 'https://localhost'},
            {'Origin': 'http://localhost.evil.example'},
            {'Sec_Fetch_Site': 'cross-site'},
            {'Sec_Fetch_Site': 'same-site'},
        ):
            for method in ('GET', 'POST'):
                path = '/v1/me' if method == 'GET' else '/v1/leases'
                http.expect(403, self.send(method, path, Cookie=cookie, **PAGE, **headers))
            self.assertEqual(403, self.sign_in(**headers).status_int, headers)
            http.expect(403, self.send('DELETE', '/ui/session', Cookie=cookie, **PAGE, **headers))
        self.assertIn('token-of-alice', self.keystone.tokens)

    def test_an_own_token_comes_first(self) -> None:
        answer = self.send('GET', '/v1/me', Cookie=self.cookie(), X_Auth_Token='wrong', **PAGE)
        self.assertEqual(401, answer.status_int)
        answer = self.send(
            'GET', '/v1/me', Cookie='climate_session=wrong', X_Auth_Token='brought', **PAGE
        )
        self.assertEqual(200, answer.status_int)

    def test_the_other_kinds(self) -> None:
        for body, token in (
            ({'token': 'brought'}, 'brought'),
            ({'token': 'brought', 'project': 'red'}, 'token-of-token'),
            # Without a project, the first one of the user.
            ({'username': 'alice', 'password': PASSWORD}, 'token-of-token'),
            (
                {'application_credential_id': 'c', 'application_credential_secret': SECRET},
                'token-of-credential',
            ),
        ):
            answer = http.expect(201, self.sign_in(body))
            self.assertIn(f'climate_session={token};', answer.headers['Set-Cookie'])

    def test_refusals(self) -> None:
        self.service.conf.set_override('sign_ins', '', group='rate_limit')
        self.app = self.service.made()
        for body, status in (
            ({**ENTERED, 'password': 'wrong'}, 401),
            ({'token': 'wrong'}, 401),
            ({'token': 'wrong\r\nX-Roles: admin'}, 401),
            ({'token': '\u20ac'}, 401),
            ({'application_credential_id': 'c', 'application_credential_secret': 'x'}, 401),
            ({}, 400),
            ({'username': 'alice'}, 400),
            ({**ENTERED, 'role': 'admin'}, 400),
            ({**ENTERED, 'username': ['alice']}, 400),
            ({**ENTERED, 'username': ''}, 400),
            ({**ENTERED, 'password': 'x' * 5000}, 400),
            ([], 400),
            (b'{"username"', 400),
            (b'x' * 20_000, 413),
        ):
            answer = http.expect(status, self.sign_in(body))
            self.assertNotIn('Set-Cookie', answer.headers)
            self.assertNotIn('wrong', answer.text)
            self.assertNotIn(PASSWORD, answer.text)
        self.assertEqual(415, self.sign_in(Content_Type='text/plain').status_int)
        self.assertEqual(403, self.send('POST', '/ui/session', ENTERED).status_int)
        self.assertEqual(405, self.send('PUT', '/ui/session', ENTERED, **PAGE).status_int)

    def test_keystone_is_down(self) -> None:
        cookie = self.cookie()
        for status, wanted in ((500, 503), (503, 503), (429, 400)):
            self.keystone.refuses = status
            self.assertEqual(wanted, self.sign_in().status_int)
        # The cookie goes in any case.
        self.assertEqual(204, self.send('DELETE', '/ui/session', Cookie=cookie, **PAGE).status_int)

    def test_plain_http_is_for_the_machine_itself(self) -> None:
        self.base_url = 'http://climate.example'
        self.assertEqual(400, self.sign_in().status_int)
        self.base_url = 'https://climate.example/cloud'
        self.assertEqual(403, self.sign_in(Origin='http://climate.example').status_int)
        answer = http.expect(201, self.sign_in(Origin='https://climate.example'))
        self.assert_contains(answer.headers['Set-Cookie'], '; secure', '; Path=/cloud/')
        self.assertNotIn('POST /v3/auth/tokens', self.keystone.asked[1:])

    def test_no_other_host_sets_the_cookie_of_a_whole_host(self) -> None:
        self.base_url = 'https://climate.example'
        answer = self.sign_in(Origin='https://climate.example')
        cookie, *attributes = answer.headers['Set-Cookie'].split('; ')
        self.assertEqual('__Host-climate_session=token-of-alice', cookie)
        self.assertLessEqual({'secure', 'Path=/'}, set(attributes))
        self.assertNotIn('Domain', answer.headers['Set-Cookie'])
        self.assertEqual(200, self.send('GET', '/v1/me', Cookie=cookie, **PAGE).status_int)
        other = cookie.removeprefix('__Host-')
        self.assertEqual(401, self.send('GET', '/v1/me', Cookie=other, **PAGE).status_int)
        gone = self.send('DELETE', '/ui/session', Cookie=cookie, **PAGE)
        self.assertIn('__Host-climate_session=; Max-Age=0', gone.headers['Set-Cookie'])

    def test_strange_cookies(self) -> None:
        for text in (
            'climate_session=',
            'climate_session="a b"',
            'climate_session=' + 'x' * 5000,
            'climate_session=a\\073b',
            ';;;=',
            'climate_session',
        ):
            self.assertEqual(401, self.send('GET', '/v1/me', Cookie=text, **PAGE).status_int, text)
            shown = self.send('GET', '/ui/session', Cookie=text)
            self.assertEqual((200, False), (shown.status_int, shown.json['signed_in']), text)

    def test_too_many(self) -> None:
        codes = [self.sign_in({**ENTERED, 'password': 'wrong'}).status_int for _ in range(11)]
        self.assertEqual([401] * 10 + [429], codes)
        asked = len(self.keystone.asked)
        self.assertGreater(int(http.expect(429, self.sign_in()).headers['Retry-After']), 0)
        self.assertEqual(asked, len(self.keystone.asked))

    def test_nothing_is_logged(self) -> None:
        log = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG, nuke_handlers=False))
        cookie = self.cookie()
        self.sign_in({**ENTERED, 'password': 'mistyped'})
        self.sign_in({'application_credential_id': 'c', 'application_credential_secret': SECRET})
        self.sign_in({'token': 'brought'})
        self.send('GET', '/v1/me', Cookie=cookie, **PAGE)
        self.keystone.refuses = 500
        self.send('DELETE', '/ui/session', Cookie=cookie, **PAGE)
        self.assertIn('/ui/session', log.output)
        for secret in (PASSWORD, 'mistyped', SECRET, 'brought', 'token-of-alice'):
            self.assertNotIn(secret, log.output)


class TestPage(PageCase):
    """The files, without authentication."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service(hosts=1))
        self.service.conf.set_override('enabled', True, group='ui')
        self.app = self.service.made()

    def test_off_by_default(self) -> None:
        self.service.conf.clear_override('enabled', group='ui')
        self.app = self.service.made()
        for path in ('/ui', '/ui/', '/ui/session'):
            self.assertEqual(404, self.send('GET', path).status_int)

    def test_the_index(self) -> None:
        answer = self.send('GET', '/ui/')
        self.assertEqual(
            (200, 'text/html; charset=utf-8'), (answer.status_int, answer.headers['Content-Type'])
        )
        self.assertEqual(web_page.POLICY, answer.headers['Content-Security-Policy'])
        self.assertEqual('nosniff', answer.headers['X-Content-Type-Options'])
        self.assertEqual('no-cache', answer.headers['Cache-Control'])
        self.assertEqual((web_page.STATIC / 'index.html').read_bytes(), answer.body)
        again = self.send('GET', '/ui/', If_None_Match=f'"x", {answer.headers["ETag"]}')
        self.assertEqual((304, b''), (again.status_int, again.body))
        self.assertEqual(web_page.POLICY, again.headers['Content-Security-Policy'])
        head = self.send('HEAD', '/ui/')
        self.assertEqual((200, b''), (head.status_int, head.body))
        self.assertEqual(answer.headers['Content-Length'], head.headers['Content-Length'])
        packed = self.send('GET', '/ui/', Accept_Encoding='br, gzip')
        if 'Content-Encoding' in packed.headers:
            self.assertEqual(answer.body, gzip.decompress(packed.body))
            self.assertNotEqual(answer.headers['ETag'], packed.headers['ETag'])

    def test_the_slash(self) -> None:
        for base_url, wanted in ((HERE, '/ui/'), (f'{HERE}/cloud', '/cloud/ui/')):
            self.base_url = base_url
            # Whatever host a client or a proxy names.
            answer = self.send('GET', '/ui', Host='192.0.2.1', X_Forwarded_Host='evil.example')
            self.assertEqual((308, wanted), (answer.status_int, answer.headers['Location']))
            self.assertEqual('no-store', answer.headers['Cache-Control'])

    def test_no_other_file(self) -> None:
        for path in (
            '/ui/../__init__.py',
            '/ui/..%2f..%2fapi/app.py',
            '/ui/%2e%2e/__init__.py',
            '/ui//etc/passwd',
            '/ui/..\\..\\api',
            '/ui/index.html/',
            '/ui/index.html%00',
            '/ui/.',
            '/ui/..',
            '/uix',
            '/ui/static/../index.html',
            '/ui/%ff',
        ):
            answer = self.send('GET', path)
            self.assertIn(answer.status_int, (400, 404), path)
            self.assertEqual('application/json', answer.headers['Content-Type'])
        for method in ('POST', 'PUT', 'DELETE', 'OPTIONS'):
            self.assertEqual(405, self.send(method, '/ui/').status_int)

    def test_without_authentication(self) -> None:
        shown = self.send('GET', '/ui/session').json
        self.assertEqual(('noauth', True), (shown['auth_strategy'], shown['signed_in']))
        self.assertEqual(404, self.send('POST', '/ui/session', ENTERED, **PAGE).status_int)
        self.assertEqual(200, self.send('GET', '/v1/me', **PAGE).status_int)

    def test_names_of_others_get_no_answer(self) -> None:
        self.service.conf.set_override('allowed_hosts', ['Cloud.example'], group='api')
        self.service.conf.set_override('enabled', False, group='ui')
        without = self.service.made()
        self.service.conf.set_override('enabled', True, group='ui')
        rows = self.service.rows()
        others = ('evil.example', 'evil.example:1234', 'localhost.evil.example', '[::', 'a@b')
        for app in (self.service.made(), without):
            self.app = app
            for host in others:
                for sent in ({'Host': host}, {'Host': host, 'X-Forwarded-Host': 'localhost'}):
                    for method, path in (('GET', '/v1/leases'), ('POST', '/v1/leases')):
                        own = {'Origin': f'http://{host}', 'Sec-Fetch-Site': 'same-origin'}
                        answer = self.send(method, path, http.LEASE, **sent, **own)
                        self.assertEqual(403, answer.status_int, sent)
                        self.assertIn('allowed_hosts', answer.json['error_message'])
            for host in ('localhost', 'LOCALHOST:1', '127.0.0.1:1234', '[::1]:1', '192.0.2.1'):
                self.assertEqual(200, self.send('GET', '/v1/leases', Host=host).status_int, host)
            for host in ('cloud.example:80', 'CLOUD.example.', 'x.localhost'):
                self.assertEqual(200, self.send('GET', '/v1/leases', Host=host).status_int, host)
        self.assertEqual(rows, self.service.rows())

    def test_without_the_page_other_sites_change_nothing(self) -> None:
        self.service.conf.set_override('enabled', False, group='ui')
        self.app = self.service.made()
        rows = self.service.rows()
        for headers in ({'Origin': 'http://evil.example'}, {'Sec_Fetch_Site': 'cross-site'}):
            answer = self.send('POST', '/v1/leases', http.LEASE, **headers, Content_Type='')
            self.assertEqual(403, answer.status_int)
        self.assertEqual(rows, self.service.rows())

    def test_other_sites_change_nothing(self) -> None:
        rows = self.service.rows()
        for headers in ({'Origin': 'http://evil.example'}, {'Sec_Fetch_Site': 'cross-site'}):
            for method, path in (('POST', '/v1/leases'), ('DELETE', '/v1/os-hosts/1')):
                answer = http.expect(403, self.send(method, path, http.LEASE, **headers))
        self.assertEqual(rows, self.service.rows())
        answer = self.send('DELETE', '/v1/os-hosts/1', Origin=HERE, Sec_Fetch_Site='same-origin')
        self.assertEqual(204, answer.status_int)
        self.service.conf.set_override('allowed_origin', ['http://good.example'], group='cors')
        self.app = self.service.made()
        answer = http.expect(400, self.send('POST', '/v1/leases', {}, Origin='http://good.example'))


class TestFiles(base.TestCase):
    """A built page."""

    def test_files(self) -> None:
        root = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (root / 'assets').mkdir()
        for name in ('index.html', 'app-4ABCDEF2.js', 'assets/style.css', 'messages.de.json'):
            (root / name).write_text('x' * 2000)
        files = web_page.load(root)
        self.assertEqual(
            {'index.html', 'app-4ABCDEF2.js', 'assets/style.css', 'messages.de.json'}, set(files)
        )
        found = {name for name, one in files.items() if one.immutable}
        self.assertEqual({'app-4ABCDEF2.js'}, found)
        self.assertEqual('text/css; charset=utf-8', files['assets/style.css'].content_type)
