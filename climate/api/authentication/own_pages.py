# SPDX-License-Identifier: Apache-2.0

"""Keeps pages of other sites from an API that trusts its callers."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from climate import exceptions
from climate.api.authentication import origins
from climate.api.authentication import proxies
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp

_READS: Final = frozenset({'GET', 'HEAD', 'OPTIONS'})


class OwnPages:
    """Refuses what pages of other sites cause in a browser; without tokens, any page could.

    A page may have a name that its owner lets point to this machine. To the browser, the
    API is then part of that site, so only names that are known here get an answer.

    :param allowed: further names of the service; ``*`` for all
    :param shared: whether the operator lets pages of other origins use the API
    """

    def __init__(self, app: WSGIApp, allowed: Collection[str], *, shared: bool) -> None:
        self._app = app
        self._allowed = frozenset(name.lower() for name in allowed)
        self._shared = shared

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on.

        :raises climate.exceptions.NotAuthorized: if another site causes the request
        """
        host = environ.get(proxies.SENT_HOST, environ.get('HTTP_HOST'))
        if host and '*' not in self._allowed and not self._knows(host):
            raise exceptions.NotAuthorized(
                'Without authentication, the API answers only to an IP address, to localhost, '
                'and to the names in [api] allowed_hosts'
            )
        writes = environ['REQUEST_METHOD'] not in _READS
        if writes and not self._shared and origins.is_foreign(environ):
            raise exceptions.NotAuthorized('Pages of other origins may change nothing here')
        return self._app(environ, start_response)

    def _knows(self, host: str) -> bool:
        try:
            name = (urlsplit(f'//{host}').hostname or '').rstrip('.')
        except ValueError:
            return False
        if name == 'localhost' or name.endswith('.localhost') or name in self._allowed:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True
