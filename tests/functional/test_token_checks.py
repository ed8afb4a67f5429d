# SPDX-License-Identifier: Apache-2.0

"""What callers cost Keystone who have no token, or none that is known."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import webob

from climate import exceptions
from climate.api.authentication.token_checks import CheckedTokens
from climate.cloud.sign_in import KeystoneSignIn
from tests import base
from tests.functional import http
from tests.functional.guarded import GuardedService

HEADERS = {'X-Climate-UI': '1', 'OpenStack-API-Version': 'reservation 1.5'}
COOKIE = 'climate_session=invented'


class TestUnknownCallers(base.TestCase):
    """A service whose Keystone answers over HTTP."""

    def setUp(self) -> None:
        super().setUp()
        guarded: Any = self.useFixture(GuardedService())
        self.keystone, self.service = guarded.keystone, guarded.service
        self.make()

    def make(self, **options: Any) -> None:
        for name, value in options.items():
            group = 'ui' if name == 'max_sign_ins' else 'api'
            self.service.conf.set_override(name, value, group=group)
        self.app = self.service.made()

    def show(self, token: str) -> webob.Response:
        headers = {**HEADERS, 'X-Auth-Token': token}
        return webob.Request.blank('/v1/me', headers=headers).get_response(self.app)

    def sign_out(self) -> int:
        request = webob.Request.blank(
            '/ui/session', method='DELETE', headers={**HEADERS, 'Cookie': COOKIE}
        )
        return int(request.get_response(self.app).status_int)

    def test_only_unknown_tokens_wait_for_keystone(self) -> None:
        @contextlib.contextmanager
        def refuse(_self: Any, address: str) -> Iterator[None]:
            raise exceptions.TooManyAtOnce(kind='address', most=2, retry_after=1)
            yield

        self.make(project_share=0.25)
        self.assertEqual(200, self.show('brought').status_int)
        self.patch(CheckedTokens, '_turn', refuse)
        asked = len(self.keystone.asked)
        self.assertEqual(200, self.show('brought').status_int)
        self.assertEqual('1', http.expect(429, self.show('invented')).headers['Retry-After'])
        self.assertEqual(asked, len(self.keystone.asked))

    def test_too_many_sign_outs(self) -> None:
        """Any text in a cookie makes Keystone look for it."""
        codes = [self.sign_out() for _ in range(10)]
        asked = len(self.keystone.asked)
        codes.append(self.sign_out())
        self.assertEqual([204] * 10 + [429], codes)
        self.assertEqual(asked, len(self.keystone.asked))

    def test_so_many_sign_outs_at_once(self) -> None:
        codes = list[int]()

        def revoke(_self: Any, token: str) -> None:
            # While Keystone looks for this token, another client signs out.
            if len(codes) < 2:
                codes.append(0)
                codes.append(self.sign_out())

        self.patch(KeystoneSignIn, 'revoke', revoke)
        self.make(max_sign_ins=1)
        codes.append(self.sign_out())
        self.assertEqual([0, 503, 204], codes)
