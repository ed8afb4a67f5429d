# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
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
from climate.api import address_shares
from climate.api.auth import CHECKING
from climate.api.rates import Rates
from climate.api.shares import RETRY_AFTER
from climate.api.shares import ShareSettings
from climate.api.shares import ThreadShares
from climate.api.wsgi import Environ
from climate.api.wsgi import StartResponse
from climate.api.wsgi import WSGIApp


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
        with address_shares.begin(self._shares, self._rates, address):
            if not self._all.acquire(blocking=False):
                raise exceptions.TooManyAtOnce(
                    kind='group of callers', most=self._most, retry_after=RETRY_AFTER
                )
            try:
                yield
            finally:
                self._all.release()
