# SPDX-License-Identifier: Apache-2.0

"""URLs of webhooks."""

from __future__ import annotations

import dataclasses
import re
import urllib.parse
from typing import Final

LONGEST: Final = 2048
_PORTS: Final = {'https': 443, 'http': 80}
# Printable ASCII without spaces: the request line has the path as it is.
_PLAIN = re.compile(r'[!-~]+', re.ASCII)
_HOST = re.compile(r'[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253})', re.ASCII)


class BadUrl(ValueError):
    """The text is no URL for a webhook; the message is fit for users."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WebhookUrl:
    """A URL in parts.

    :ivar host: a name, or an address without brackets
    :ivar target: path and query
    """

    scheme: str
    host: str
    port: int
    target: str = dataclasses.field(repr=False)

    @property
    def authority(self) -> str:
        """The value of the header ``Host``."""
        host = f'[{self.host}]' if ':' in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f'{host}:{self.port}'


def parse(text: str, *, allow_http: bool) -> WebhookUrl:
    """Return a URL in parts.

    :raises BadUrl: naming what is wrong with it
    """
    if len(text) > LONGEST:
        raise BadUrl(f'at most {LONGEST} characters are allowed')
    if _PLAIN.fullmatch(text) is None:
        raise BadUrl('only printable ASCII characters without spaces are allowed')
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port
    except ValueError:
        raise BadUrl('it is not a URL') from None
    schemes = ('https', 'http') if allow_http else ('https',)
    if parts.scheme not in schemes:
        raise BadUrl(f'it must begin with {" or ".join(f"{one}://" for one in schemes)}')
    if parts.username is not None or parts.password is not None:
        raise BadUrl('a user name is not allowed')
    if parts.fragment or text.endswith('#'):
        raise BadUrl('a fragment is not allowed')
    host = parts.hostname or ''
    if ':' not in host and _HOST.fullmatch(host) is None:
        raise BadUrl('it names no host')
    if port == 0:
        raise BadUrl('port 0 is not allowed')
    target = urllib.parse.urlunsplit(('', '', parts.path or '/', parts.query, ''))
    return WebhookUrl(
        scheme=parts.scheme, host=host, port=port or _PORTS[parts.scheme], target=target
    )
