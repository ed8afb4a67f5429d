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

"""Believes what proxies say of a request, if they are ours."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi

from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp

_CLIENT = 'climate.client_address'
_HEADERS = (
    'HTTP_FORWARDED',
    'HTTP_X_FORWARDED_FOR',
    'HTTP_X_FORWARDED_HOST',
    'HTTP_X_FORWARDED_PREFIX',
    'HTTP_X_FORWARDED_PROTO',
)

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Proxies:
    """Takes scheme, host, prefix and the client's address from headers of trusted proxies.

    From all others these headers are removed.

    :param trusted: networks of the proxies, in CIDR notation
    :raises ValueError: if one of them is none
    """

    def __init__(self, app: WSGIApp, conf: cfg.ConfigOpts, trusted: Sequence[str]) -> None:
        self._app = app
        self._conf = conf
        self._trusted = [ipaddress.ip_network(one) for one in trusted]
        self._believing = http_proxy_to_wsgi.HTTPProxyToWSGI(self._addressed, conf)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on, as the client sent it to the outermost proxy of ours."""
        peer = _address(environ.get('REMOTE_ADDR') or '')
        parsed = self._conf.oslo_middleware.enable_proxy_headers_parsing
        if parsed and peer is not None and self._trusts(peer):
            environ[_CLIENT] = str(self._client(peer, environ))
            answer: Iterable[bytes] = self._believing(environ, start_response)
            return answer
        for header in _HEADERS:
            environ.pop(header, None)
        return self._app(environ, start_response)

    def _addressed(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        # oslo.middleware takes the address that the client itself has sent.
        environ['REMOTE_ADDR'] = environ[_CLIENT]
        return self._app(environ, start_response)

    def _client(self, peer: _Address, environ: Environ) -> _Address:
        """Return the first address, from here on outwards, that is no trusted proxy's."""
        address = peer
        for hop in _hops(environ):
            found = _address(hop)
            if found is None or not self._trusts(address):
                break
            address = found
        return address

    def _trusts(self, address: _Address) -> bool:
        return any(address in network for network in self._trusted)


def _hops(environ: Environ) -> Iterator[str]:
    """Yield what each proxy says whom it had a request from, the nearest proxy first."""
    forwarded = environ.get('HTTP_FORWARDED')
    if not forwarded:
        yield from reversed((environ.get('HTTP_X_FORWARDED_FOR') or '').split(','))
        return
    for element in reversed(forwarded.split(',')):
        pairs = (pair.partition('=') for pair in element.split(';'))
        yield next((value for key, _, value in pairs if key.strip().lower() == 'for'), '')


def _address(text: str) -> _Address | None:
    """Return an address that may have a port; None if it is none."""
    text = text.strip().strip('"')
    if text.startswith('['):
        text = text[1:].partition(']')[0]
    elif text.count(':') == 1:
        text = text.partition(':')[0]
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    # What a socket for both families says of IPv4.
    return getattr(found, 'ipv4_mapped', None) or found
