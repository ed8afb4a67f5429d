# SPDX-License-Identifier: Apache-2.0

"""Tells requests of the service's own web page from those that other sites cause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final
from urllib.parse import urlsplit

import webob

_OWN_SITES: Final = frozenset({'same-origin', 'none'})
_PORTS: Final = {'http': 80, 'https': 443}
_LOOPBACK: Final = frozenset({'localhost', '127.0.0.1', '::1'})


def is_foreign(environ: Mapping[str, Any]) -> bool:
    """Whether a browser sends the request for a page of another origin.

    Browsers add ``Origin`` and ``Sec-Fetch-Site`` themselves; no page can forge them.
    """
    origin = environ.get('HTTP_ORIGIN')
    if origin is not None and origin.lower() != _own(environ):
        return True
    return environ.get('HTTP_SEC_FETCH_SITE', 'none') not in _OWN_SITES


def is_private(environ: Mapping[str, Any]) -> bool:
    """Whether the network cannot read the request: by TLS, or within the machine."""
    if environ['wsgi.url_scheme'] == 'https':
        return True
    return urlsplit(_own(environ)).hostname in _LOOPBACK


def of(url: str) -> str:
    """Return the origin of a URL, as a browser writes it: without the port of its scheme."""
    parts = urlsplit(url)
    host = parts.hostname or ''
    name = f'[{host}]' if ':' in host else host
    port = '' if parts.port in (None, _PORTS.get(parts.scheme)) else f':{parts.port}'
    return f'{parts.scheme}://{name}{port}'


def _own(environ: Mapping[str, Any]) -> str:
    """Return the origin of the service, as a browser writes it."""
    # Leaves out the port if it is that of the scheme.
    return webob.Request(dict(environ)).host_url.lower()
