# SPDX-License-Identifier: Apache-2.0
"""How many tokens Keystone checks at once."""

from __future__ import annotations

import contextlib
from typing import Any

from climate import exceptions
from climate.api.authentication.token_checks import CheckedTokens
from climate.api.http.environ_keys import CHECKING
from climate.api.limits.rates import Rates
from climate.api.limits.shares import CallerGroup
from climate.api.limits.shares import ShareSettings
from climate.api.limits.shares import ThreadShares
from tests import base
from tests import settings


class TestCheckedTokens(base.TestCase):
    """A process with eight threads."""

    def setUp(self) -> None:
        super().setUp()
        self.checked = self.closing(contextlib.ExitStack())

    def limit(self, rates: Any = None, **settings: Any) -> ThreadShares:
        found = ShareSettings(**{'threads': 8, 'project_share': 0.25, 'wait': 0.0, **settings})
        shares = ThreadShares(found)
        self.app = CheckedTokens(self.answer, shares, found, rates)
        return shares

    def answer(self, environ: Any, _start: Any) -> list[bytes]:
        """Check the token of a request until the end of the test."""
        self.checked.enter_context(environ.get(CHECKING, contextlib.nullcontext)())
        return []

    def check(self, address: str) -> None:
        self.app({'REMOTE_ADDR': address}, lambda *_: None)

    def test_of_one_address(self) -> None:
        shares = self.limit()
        for _ in range(2):
            self.check('2001:db8::1')
        error = self.assertRaises(exceptions.TooManyAtOnce, self.check, '2001:db8::2')
        self.assertIn('of one address at once', error.message)
        self.check('192.0.2.1')
        for _ in range(2):
            shares.begin(CallerGroup.PROJECT, 'blue')
        self.checked.close()
        self.check('2001:db8::1')

    def test_of_an_address_that_many_users_share(self) -> None:
        self.limit(Rates(settings.configured('rate_limit', exempt_addresses=['192.0.2.0/24'])))
        for _ in range(4):
            self.check('192.0.2.1')
        self.assertRaises(exceptions.TooManyAtOnce, self.check, '192.0.2.1')

    def test_of_all_addresses(self) -> None:
        self.limit()
        for number in range(4):
            self.check(f'192.0.2.{number}')
        self.assertRaises(exceptions.TooManyAtOnce, self.check, '192.0.2.9')
        self.checked.close()
        self.check('192.0.2.9')

    def test_no_limit(self) -> None:
        self.limit(project_share=1)
        for _ in range(20):
            self.check('192.0.2.1')
