# SPDX-License-Identifier: Apache-2.0

"""Reads the headers of trusted proxies, and removes those of other clients."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from collections.abc import Sequence
from typing import Final

from oslo_config import cfg
from oslo_middleware import http_proxy_to_wsgi

from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp

_CLIENT = 'climate.client_address'
_FORWARDED = 'HTTP_FORWARDED'
_FOR = 'HTTP_X_FORWARDED_FOR'
_PROTO = 'HTTP_X_FORWARDED_PROTO'
_HOST = 'HTTP_X_FORWARDED_HOST'
# Headers that become part of links, and the form that each must have.
_FORMS = {
    _PROTO: re.compile('https?'),
    _HOST: re.compile(r'(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?', re.ASCII),
    'HTTP_X_FORWARDED_PREFIX': re.compile(r'(?:/[\w.~-]+)+/?', re.ASCII),
}
HEADERS: Final = (_FORWARDED, _FOR, *_FORMS)
"""The headers that count only from trusted proxies, as keys of the WSGI environment."""

SENT_HOST: Final = 'climate.sent_host'
"""The header ``Host`` of the request, as a key of the WSGI environment."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Proxies:
    """Takes scheme, host, prefix and the client's address from headers of trusted proxies.

    Removes these headers from all other requests. ``X-Forwarded-*`` take precedence
    over ``Forwarded``: most proxies set only those, and forward whatever a client
    sends in the other. Requests without any of :data:`HEADERS` can bypass this class.

    :param trusted: networks of the proxies, in CIDR notation
    :raises ValueError: if one of them is not a network
    """

    def __init__(self, app: WSGIApp, conf: cfg.ConfigOpts, trusted: Sequence[str]) -> None:
        self._app = app
        self._conf = conf
        self._trusted = [ipaddress.ip_network(one) for one in trusted]
        self._parsing = http_proxy_to_wsgi.HTTPProxyToWSGI(self._with_client_address, conf)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on as the client sent it to the outermost trusted proxy."""
        # What follows replaces it by the host of a header, which a page can set.
        environ[SENT_HOST] = environ.get('HTTP_HOST')
        peer = _address(environ.get('REMOTE_ADDR') or '')
        parsed = self._conf.oslo_middleware.enable_proxy_headers_parsing
        if parsed and peer is not None and self._trusts(peer):
            self._read(peer, environ)
            answer: Iterable[bytes] = self._parsing(environ, start_response)
            return answer
        for header in HEADERS:
            environ.pop(header, None)
        return self._app(environ, start_response)

    def _with_client_address(
        self, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        # oslo.middleware would take the address that the client itself claims.
        environ['REMOTE_ADDR'] = environ[_CLIENT]
        return self._app(environ, start_response)

    def _read(self, peer: _Address, environ: Environ) -> None:
        """Keep only trusted values in the headers that oslo.middleware reads."""
        text = environ.pop(_FORWARDED, None)
        if text and not any(header in environ for header in (_FOR, _PROTO, _HOST)):
            elements = [_element(one) for one in reversed(text.split(','))]
            client, said = self._client(peer, [one.get('for', '') for one in elements])
            if said is not None:
                environ[_PROTO] = elements[said].get('proto', '').lower()
                environ[_HOST] = elements[said].get('host', '')
        else:
            client, _ = self._client(peer, reversed((environ.get(_FOR) or '').split(',')))
        environ[_CLIENT] = str(client)
        for header, form in _FORMS.items():
            # The value of the client comes first, that of the nearest proxy last.
            value = (environ.pop(header, None) or '').rpartition(',')[2].strip()
            if form.fullmatch(value):
                environ[header] = value

    def _client(self, peer: _Address, hops: Iterable[str]) -> tuple[_Address, int | None]:
        """Return the nearest address that does not belong to a trusted proxy.

        :param hops: the client address that each proxy reports, the nearest proxy first
        :returns: the address, and the index of the hop that reported it, or None
        """
        address, place = peer, None
        for number, hop in enumerate(hops):
            near = _address(hop)
            if near is None or not self._trusts(address):
                break
            address, place = near, number
        return address, place

    def _trusts(self, address: _Address) -> bool:
        return any(address in network for network in self._trusted)


def _element(text: str) -> dict[str, str]:
    """Return the parameters of one proxy in ``Forwarded``."""
    pairs = (pair.partition('=') for pair in text.split(';'))
    return {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}


def _address(text: str) -> _Address | None:
    """Return an address, which may have a port, or None if it is invalid."""
    text = text.strip().strip('"')
    if text.startswith('['):
        text = text[1:].partition(']')[0]
    elif text.count(':') == 1:
        text = text.partition(':')[0]
    try:
        # The zone of an address has no meaning here, and may be any text.
        address = ipaddress.ip_address(text.partition('%')[0])
    except ValueError:
        return None
    # A dual-stack socket reports IPv4 addresses in this form.
    return getattr(address, 'ipv4_mapped', None) or address
