# SPDX-License-Identifier: Apache-2.0

"""Single sign-on to the web page, and the projects of those who are signed in."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs
from urllib.parse import urlsplit

import webob

from climate import exceptions
from climate.api.authentication.single_sign_on import SingleSignOn
from tests import base
from tests.functional import http
from tests.functional.guarded import GuardedService
from tests.functional.keystone import PASSWORD

PAGE = {'X-Climate-UI': '1'}
START, LANDING = '/ui/session/start', '/ui/session/websso'
PROJECTS = '/ui/session/projects'
ENTERED = {'username': 'alice', 'password': PASSWORD, 'project': 'blue'}
STATE = 'climate_sso=begun'


class SignInCase(base.TestCase):
    """A service whose Keystone has WebSSO."""

    ways = {'University': 'shibboleth/saml2', 'GitHub': 'openid'}
    base_url = 'http://localhost'

    def setUp(self) -> None:
        super().setUp()
        self.audited: list[dict[str, Any]] = []
        guarded = self.useFixture(GuardedService())
        self.keystone, self.service = guarded.keystone, guarded.service
        self.keystone.tokens['token-of-sso'] = None
        self.service.audit = self.audited.append
        self.service.conf.set_override('websso', self.ways, group='ui')
        self.service.conf.set_override('websso_url', self.keystone.url, group='ui')
        self.app = self.service.made()

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> webob.Response:
        request = webob.Request.blank(path, method=method, base_url=self.base_url)
        if isinstance(body, str):
            request.text = body
            request.content_type = 'application/x-www-form-urlencoded'
        elif body is not None:
            request.json = body
            request.content_type = 'application/json'
        request.headers['OpenStack-API-Version'] = 'reservation 1.5'
        for name, text in headers.items():
            request.headers[name.replace('_', '-')] = text
        return request.get_response(self.app)

    def start(self, way: str = 'University', **headers: str) -> webob.Response:
        return self.send('POST', START, {'sso': way}, **{**PAGE, **headers})

    def land(self, body: str = 'token=token-of-sso', **headers: str) -> webob.Response:
        """Post what the page of Keystone has a browser post."""
        sent = {'Origin': self.keystone.url, 'Sec-Fetch-Site': 'cross-site', 'Cookie': STATE}
        sent |= {name.replace('_', '-'): text for name, text in headers.items()}
        return self.send('POST', LANDING, body, **{k: v for k, v in sent.items() if v})


class TestSingleSignOn(SignInCase):
    """Through Keystone."""

    def test_a_sign_in(self) -> None:
        self.assertEqual(['University', 'GitHub'], self.send('GET', '/ui/session').json['sso'])
        answer = http.expect(200, self.start(Origin=self.base_url))
        location = urlsplit(answer.json['location'])
        self.assertEqual(
            '/v3/auth/OS-FEDERATION/identity_providers/shibboleth/protocols/saml2/websso',
            location.path,
        )
        found = parse_qs(location.query)
        self.assertEqual({'origin': ['http://localhost/ui/session/websso']}, found)
        cookie, *attributes = answer.headers['Set-Cookie'].split('; ')
        self.assertLessEqual(
            {'HttpOnly', 'Path=/', 'SameSite=none', 'secure', 'Max-Age=600'}, set(attributes)
        )
        landed = self.land(Cookie=cookie)
        self.assertEqual((303, ''), (landed.status_int, landed.text))
        self.assertEqual('/ui/', landed.headers['Location'])
        session, state = sorted(landed.headers.getall('Set-Cookie'))
        self.assertTrue(session.startswith('climate_session=token-of-token; '), session)
        self.assertIn('SameSite=strict', session)
        self.assertIn('climate_sso=; Max-Age=0', state)
        # In the first project of the user, by name.
        http.expect(200, self.send('GET', '/v1/me', Cookie=session.partition(';')[0], **PAGE))
        (event,) = self.audited
        self.assert_has(event, action='authenticate', outcome='success')
        self.assert_has(event['initiator'], id='u1', project_id='blue')
        self.assertNotIn('token-of', json.dumps(self.audited))

    def test_without_a_provider(self) -> None:
        location = self.start('GitHub').json['location']
        self.assertIn('/v3/auth/OS-FEDERATION/websso/openid?origin=', location)

    def test_below_a_prefix_with_tls(self) -> None:
        self.base_url = 'https://climate.example/cloud'
        answer = self.start(Origin='https://climate.example')
        origin = parse_qs(urlsplit(answer.json['location']).query)['origin']
        self.assertEqual(['https://climate.example/cloud/ui/session/websso'], origin)
        # No other host can set a cookie with this name.
        cookie = answer.headers['Set-Cookie'].partition(';')[0]
        self.assertTrue(cookie.startswith('__Host-climate_sso='), cookie)
        self.assertEqual(403, self.land().status_int)
        self.assertEqual('/cloud/ui/', self.land(Cookie=cookie).headers['Location'])
        self.base_url = 'http://climate.example'
        self.assertEqual(400, self.start().status_int)
        self.assertEqual(400, self.land().status_int)

    def test_other_sites_sign_no_one_in(self) -> None:
        """Such as by a page that has the token of its owner."""
        asked = len(self.keystone.asked)
        for headers, status in (
            ({'Cookie': ''}, 403),
            ({'Cookie': 'climate_sso='}, 403),
            ({'Cookie': 'climate_session=token-of-sso'}, 403),
            ({'Origin': ''}, 403),
            ({'Origin': 'null'}, 403),
            ({'Origin': 'https://evil.example'}, 403),
            ({'Origin': self.base_url}, 403),
            ({'Origin': f'{self.keystone.url}.evil.example'}, 403),
            ({'Sec_Fetch_Dest': 'iframe'}, 403),
            ({'Sec_Fetch_Dest': 'empty'}, 403),
            ({'Content_Type': 'application/json'}, 415),
            ({'body': ''}, 400),
            ({'body': 'token=a&token=b'}, 400),
            ({'body': 'token=' + 'x' * 20_000}, 413),
            ({'body': '&'.join(['x=y'] * 11)}, 400),
        ):
            answer = http.expect(status, self.land(**headers))
            self.assertIn('You are not signed in', answer.text)
            self.assertEqual('text/html', answer.content_type)
            cookies = str(answer.headers.getall('Set-Cookie'))
            self.assertNotIn('climate_session', cookies)
            # A sign-in goes on, whatever pages of other sites send meanwhile.
            self.assertEqual('Origin' not in headers, 'climate_sso=; Max-Age=0' in cookies)
        self.assertEqual(asked, len(self.keystone.asked))
        self.assertEqual({'failure'}, {event['outcome'] for event in self.audited})
        for token in ('wrong%3Cscript%3E', '%E2%82%AC', 'a%0D%0AX-Roles:admin', '%20a'):
            answer = self.land(f'token={token}')
            self.assertEqual((401, 'text/html'), (answer.status_int, answer.content_type), token)
            self.assertNotIn('<script>', answer.text)

    def test_other_sites_begin_nothing(self) -> None:
        for headers in ({'X_Climate_UI': '0'}, {'Origin': 'https://evil.example'}):
            answer = self.send('POST', START, {'sso': 'GitHub'}, **{**PAGE, **headers})
            if 'X_Climate_UI' in headers:
                answer = self.send('POST', START, {'sso': 'GitHub'})
            self.assertEqual(403, answer.status_int)
            self.assertNotIn('Set-Cookie', answer.headers)
        self.assertEqual(400, self.start('unknown').status_int)
        self.assertEqual(400, self.send('POST', START, {}, **PAGE).status_int)
        self.assertEqual(405, self.send('GET', START, **PAGE).status_int)
        self.assertEqual(405, self.send('GET', LANDING).status_int)

    def test_without_a_project(self) -> None:
        self.keystone.projects = []
        self.assertIn('You have no role in any project', http.expect(401, self.land()).text)

    def test_too_many(self) -> None:
        codes = [self.land('token=wrong').status_int for _ in range(11)]
        self.assertEqual([401] * 10 + [429], codes)
        self.assertGreater(int(self.land().headers['Retry-After']), 0)

    def test_off_by_default(self) -> None:
        self.service.conf.clear_override('websso', group='ui')
        self.app = self.service.made()
        self.assertEqual([], self.send('GET', '/ui/session').json['sso'])
        self.assertEqual((404, 404), (self.start().status_int, self.land().status_int))

    def test_origins_as_browsers_write_them(self) -> None:
        for url, origin in (
            ('https://Keystone.example:443/identity', 'https://keystone.example'),
            ('http://keystone.example:80', 'http://keystone.example'),
            ('https://keystone.example:5000/v3', 'https://keystone.example:5000'),
            ('https://[2001:DB8::1]:443/v3', 'https://[2001:db8::1]'),
        ):
            self.service.conf.set_override('websso_url', url, group='ui')
            self.app = self.service.made()
            http.expect(303, self.land(Origin=origin))

    def test_wrong_options(self) -> None:
        for way in ('', 'a/b/c', '../openid', 'openid?x'):
            with self.assertRaises(exceptions.ConfigurationError):
                SingleSignOn('https://keystone', {'x': way})
        for url in ('https://keystone:port', 'https://keystone:70000', 'https://[::1'):
            self.assertRaises(exceptions.ConfigurationError, SingleSignOn, url, {'x': 'openid'})
        self.service.conf.clear_override('websso_url', group='ui')
        self.assertRaises(exceptions.ConfigurationError, SingleSignOn.from_conf, self.service.conf)


class TestProjects(SignInCase):
    """Those of a user who is signed in."""

    def setUp(self) -> None:
        super().setUp()
        answer = self.send('POST', '/ui/session', ENTERED, **PAGE)
        self.cookie = answer.headers['Set-Cookie'].partition(';')[0]

    def switch(self, **headers: str) -> webob.Response:
        return self.send('POST', '/ui/session', {'project_id': 'red'}, **{**PAGE, **headers})

    def test_projects(self) -> None:
        answer = self.send('GET', PROJECTS, Cookie=self.cookie, **PAGE)
        self.assertEqual(['blue', 'red'], [one['name'] for one in answer.json['projects']])
        self.assertEqual(401, self.send('GET', PROJECTS, **PAGE).status_int)
        self.assertEqual(403, self.send('GET', PROJECTS, Cookie=self.cookie).status_int)
        http.expect(401, self.send('GET', PROJECTS, Cookie='climate_session=wrong', **PAGE))
        codes = [
            self.send('GET', PROJECTS, Cookie=self.cookie, **PAGE).status_int for _ in range(9)
        ]
        self.assertEqual([200] * 8 + [429], codes)

    def test_switch(self) -> None:
        answer = http.expect(201, self.switch(Cookie=self.cookie))
        cookie = answer.headers['Set-Cookie'].partition(';')[0]
        me = self.send('GET', '/v1/me', Cookie=cookie, **PAGE).json
        self.assertEqual('red', me['me']['project_id'])
        self.assertEqual('red', self.audited[-1]['initiator']['project_id'])

    def test_refusals(self) -> None:
        self.assertEqual(401, self.switch().status_int)
        self.assertEqual(401, self.switch(Cookie='climate_session=wrong').status_int)
        http.expect(403, self.switch(Cookie=self.cookie, Origin='https://evil.example'))
        self.keystone.projects = ['blue']
        self.assertEqual(401, self.switch(Cookie=self.cookie).status_int)
