# SPDX-License-Identifier: Apache-2.0

"""The session of the web page, with a real Keystone."""

from __future__ import annotations

from typing import Any

import requests

from tests.cloud.base import CloudTest
from tests.cloud.people import PATIENCE

PAGE = {'X-Climate-UI': '1', 'OpenStack-API-Version': 'reservation 1.5'}


class WebPageTest(CloudTest):
    """What a browser sends; it keeps the cookie."""

    def setUp(self) -> None:
        super().setUp()
        self.address = self.cloud.reservation_url.removesuffix('/v1')
        self.browser = requests.Session()
        self.addCleanup(self.browser.close)
        self.entered = {
            'username': self.cloud.account('alice'),
            'password': self.cloud.password,
            'user_domain': 'Default',
            'project': self.alice.project,
            'project_domain': 'Default',
        }

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        return self.browser.request(
            method, f'{self.address}{path}', json=body, headers=headers, timeout=PATIENCE
        )

    def test_a_session(self) -> None:
        page = self.send('GET', '/ui/')
        self.assertEqual(200, page.status_code, page.text)
        self.assertIn("require-trusted-types-for 'script'", page.headers['Content-Security-Policy'])
        self.assertEqual(401, self.send('GET', '/v1/me', **PAGE).status_code)
        wrong = self.send('POST', '/ui/session', {**self.entered, 'password': 'wrong'}, **PAGE)
        self.assertEqual((401, {}), (wrong.status_code, dict(self.browser.cookies)), wrong.text)
        # Without the header, as a form of another site would send it.
        self.assertEqual(403, self.send('POST', '/ui/session', self.entered).status_code)

        signed_in = self.send('POST', '/ui/session', self.entered, **PAGE)
        self.assertEqual(201, signed_in.status_code, signed_in.text)
        cookie = {part.strip().lower() for part in signed_in.headers['Set-Cookie'].split(';')}
        self.assertLessEqual({'httponly', 'samesite=strict'}, cookie)
        token = self.browser.cookies['climate_session']
        self.assertNotIn(token, signed_in.text)

        me = self.send('GET', '/v1/me', **PAGE)
        self.assertEqual(200, me.status_code, me.text)
        self.assertEqual(self.alice.project_id, me.json()['me']['project_id'])
        self.assertFalse(me.json()['me']['admin'])
        lease = self.book(self.alice, 3600)
        listed = self.send('GET', '/v1/leases', **PAGE).json()['leases']
        self.assertEqual([lease['id']], [one['id'] for one in listed])
        # The cookie alone, as another site would have it sent.
        self.assertEqual(401, self.send('GET', '/v1/leases').status_code)
        path = f'/v1/leases/{lease["id"]}'
        elsewhere = self.send('DELETE', path, **PAGE, Origin='https://elsewhere.example')
        self.assertEqual(403, elsewhere.status_code)
        self.assertTrue(self.alice.knows(lease['id']))
        self.assertIn(self.send('DELETE', path, **PAGE).status_code, (202, 204))

        gone = self.send('DELETE', '/ui/session', **PAGE)
        self.assertEqual((204, {}), (gone.status_code, dict(self.browser.cookies)), gone.text)
        self.browser.cookies.set('climate_session', token)
        validated = self.admin.sdk.session.get(
            f'{self.cloud.auth_url}/auth/tokens',
            headers={'X-Subject-Token': token},
            raise_exc=False,
        )
        self.assertEqual(404, validated.status_code, 'Keystone has not revoked the token')
