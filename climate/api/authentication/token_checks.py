# SPDX-License-Identifier: Apache-2.0
"""How many tokens Keystone checks at once.

Until Keystone answers, it is not known whose request it is: any client can invent tokens. So
requests whose tokens are not in the cache count by address, and together have half of the
threads: however many invented ones arrive, and however slow Keystone is, those whose tokens
are in the cache go on.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterable
from collections.abc import Iterator

from climate import exceptions
from climate.api.http.environ_keys import CHECKING
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.api.limits import shares
from climate.api.limits.rates import Rates
from climate.api.limits.shares import RETRY_AFTER
from climate.api.limits.shares import ShareSettings
from climate.api.limits.shares import ThreadShares


class CheckedTokens:
    """Passes requests on, with what limits the checks of their tokens.

    :param rates: knows which addresses many users share; None if there are none
    """

    def __init__(
        self,
        app: WSGIApp,
        shares: ThreadShares,
        settings: ShareSettings,
        rates: Rates | None = None,
    ) -> None:
        self._app = app
        self._shares = shares
        self._rates = rates
        self._limited = settings.project_share < 1
        self._most = max(1, settings.threads // 2)
        self._all = threading.BoundedSemaphore(self._most)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on."""
        if self._limited:
            address = environ.get('REMOTE_ADDR') or ''
            environ[CHECKING] = functools.partial(self._turn, address)
        return self._app(environ, start_response)

    @contextlib.contextmanager
    def _turn(self, address: str) -> Iterator[None]:
        with shares.begin_for_address(self._shares, self._rates, address):
            if not self._all.acquire(blocking=False):
                raise exceptions.TooManyAtOnce(
                    kind='group of callers', most=self._most, retry_after=RETRY_AFTER
                )
            try:
                yield
            finally:
                self._all.release()
