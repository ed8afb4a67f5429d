# SPDX-License-Identifier: Apache-2.0

"""Who signs in to the web page, and who tries, is in the audit trail."""

from __future__ import annotations

import json
from typing import Any

import webob

from tests import base
from tests.functional.guarded import GuardedService
from tests.functional.keystone import PASSWORD

ENTERED = {'username': 'alice', 'password': PASSWORD, 'project': 'blue'}


class TestSignIns(base.TestCase):
    """With Keystone."""

    def setUp(self) -> None:
        super().setUp()
        self.audited: list[dict[str, Any]] = []
        service = self.useFixture(GuardedService()).service
        service.audit = self.audited.append
        self.app = service.made()

    def send(self, method: str, body: Any = None, cookie: str = '') -> webob.Response:
        request = webob.Request.blank('/ui/session', method=method, base_url='http://localhost')
        request.headers.update({'X-Climate-UI': '1', 'Cookie': cookie})
        if body is not None:
            request.json = body
            request.content_type = 'application/json'
        return request.get_response(self.app)

    def test_sign_ins_and_sign_outs(self) -> None:
        """Who has signed in, but not what a user has typed."""
        cookie = str(self.send('POST', ENTERED).headers['Set-Cookie']).partition(';')[0]
        mistyped = {**ENTERED, 'username': PASSWORD, 'password': 'mistyped'}
        self.send('POST', mistyped)
        self.send('DELETE', cookie=cookie)
        for _ in range(12):
            self.send('POST', mistyped)
        self.send('GET')
        failed = ('authenticate', 'failure', '401')
        in_and_out = [('authenticate', 'success', '201'), failed, ('delete', 'success', '204')]
        # Of refusals that are alike, one.
        refused = [*[failed] * 8, ('authenticate', 'failure', '429')]
        audited = [
            (each['action'], each['outcome'], each['reason']['reasonCode']) for each in self.audited
        ]
        self.assertEqual([*in_and_out, *refused], audited)
        found = {event['target']['typeURI'] for event in self.audited}
        self.assertEqual({'service/reservation/sessions'}, found)
        who = [(one['initiator']['id'], one['initiator']['project_id']) for one in self.audited]
        self.assertEqual(('u1', 'blue'), who[0])
        self.assertEqual({('unknown', 'unknown')}, set(who[1:2] + who[3:]))
        for secret in (PASSWORD, 'mistyped', cookie.partition('=')[2]):
            self.assertNotIn(secret, json.dumps(self.audited))
