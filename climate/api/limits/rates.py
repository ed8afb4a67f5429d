# SPDX-License-Identifier: Apache-2.0

"""Rate limits by project and by address."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import math
import threading
from collections.abc import Iterable
from typing import Any
from typing import Final

import limits
from limits import errors
from limits import storage as storages
from limits import strategies

from climate import exceptions
from climate.api.http.environ_keys import CONTEXT
from climate.api.http.wsgi import Environ
from climate.api.http.wsgi import StartResponse
from climate.api.http.wsgi import WSGIApp
from climate.clock import SystemClock

LOG = logging.getLogger(__name__)

# A storage that does not answer must not delay requests for longer than this.
_SECONDS: Final = 0.5
_OPTIONS: dict[str, dict[str, Any]] = {
    'memcached': {'connect_timeout': _SECONDS, 'timeout': _SECONDS},
    'redis': {'socket_connect_timeout': _SECONDS, 'socket_timeout': _SECONDS},
    'rediss': {'socket_connect_timeout': _SECONDS, 'socket_timeout': _SECONDS},
}
_PREFIX = 'climate'
_IPV6_BITS = 64
# The library uses the system clock, even if the service has another one.
_CLOCK: Final = SystemClock()


class Rates:
    """The rate limits that the operator configured.

    :param conf: an oslo.config ConfigOpts
    :raises climate.exceptions.ConfigurationError: if an option is wrong
    """

    def __init__(self, conf: Any) -> None:
        options = conf.rate_limit
        self._per_project = _parsed('per_project', options.per_project)
        self._per_address = _parsed('per_address', options.per_address)
        self._sign_ins = _parsed('sign_ins', options.sign_ins)
        self._projects = frozenset(options.exempt_projects)
        self._addresses = [_network(text) for text in options.exempt_addresses]
        self._per_feed = _parsed('rate', conf.feeds.rate, group='feeds')
        self._lock = threading.Lock()
        self._failures = 0
        # Two threads at once could start the same timer of this storage, which is an error.
        memory = options.storage.partition(':')[0] == 'memory'
        self._alone: contextlib.AbstractContextManager[Any] = (
            threading.Lock() if memory else contextlib.nullcontext()
        )
        if self._per_project or self._per_address or self._sign_ins or self._per_feed:
            self._strategy = _strategy(options.storage)

    @property
    def projects(self) -> bool:
        """Whether requests of projects are limited."""
        return bool(self._per_project)

    @property
    def addresses(self) -> bool:
        """Whether requests from addresses are limited."""
        return bool(self._per_address)

    def project(self, project_id: str) -> None:
        """Count a request of a project.

        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        if project_id not in self._projects:
            self._count(self._per_project, 'project', project_id)

    def address(self, text: str) -> None:
        """Count a request from an address.

        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        self._count_address(self._per_address, 'address', text)

    def sign_in(self, text: str) -> None:
        """Count a sign-in from an address.

        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        self._count_address(self._sign_ins, 'address that sign in', text)

    def sign_out(self, text: str) -> None:
        """Count a sign-out from an address, by the limit of sign-ins.

        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        self._count_address(self._sign_ins, 'address that sign out', text)

    def projects_of(self, text: str) -> None:
        """Count a request for the projects of a user, by the limit of sign-ins.

        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        self._count_address(self._sign_ins, 'address that list projects', text)

    def exempts(self, text: str) -> bool:
        """Whether an address has no limit, because many users share it."""
        address = _address(text)
        return address is not None and any(address in network for network in self._addresses)

    def _count_address(self, items: list[limits.RateLimitItem], kind: str, text: str) -> None:
        address = _address(text)
        if not self.exempts(text):
            self._count(items, kind, _client(address))

    def feed(self, feed_id: str | None, address: str) -> None:
        """Count a request for the link of a feed.

        :param feed_id: None if there is no such link; such requests count by *address*
        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        kind = 'address' if feed_id is None else 'feed'
        who = f'feeds {client_of(address)}' if feed_id is None else feed_id
        self._count(self._per_feed, kind, who)

    def _count(self, items: list[limits.RateLimitItem], kind: str, who: str) -> None:
        try:
            refused = [item for item in items if not self._hit(item, kind, who)]
            waits = [self._wait(item, kind, who) for item in refused]
        except (errors.StorageError, OSError) as error:
            self._fail(error)
            return
        if refused:
            raise exceptions.TooManyRequests(
                kind=kind, limit='; '.join(map(str, refused)), retry_after=max(waits)
            )

    def _hit(self, item: limits.RateLimitItem, kind: str, who: str) -> bool:
        with self._alone:
            return self._strategy.hit(item, kind, who)

    def _wait(self, item: limits.RateLimitItem, kind: str, who: str) -> int:
        """Return how many seconds to wait before the next request."""
        resets = self._strategy.get_window_stats(item, kind, who).reset_time
        return min(max(math.ceil(resets - _CLOCK.now().timestamp()), 1), item.get_expiry())

    def _fail(self, error: Exception) -> None:
        """Log that requests are not counted, at failures 1, 2, 4, 8 and so on."""
        with self._lock:
            self._failures += 1
            count = self._failures
        if count & (count - 1) == 0:
            LOG.error(
                '[rate_limit] storage does not answer (%s); %d requests were not counted',
                type(error).__name__,
                count,
            )


def _parsed(name: str, text: str, group: str = 'rate_limit') -> list[limits.RateLimitItem]:
    if not text.strip():
        return []
    try:
        rates = limits.parse_many(text)
    except ValueError as error:
        raise exceptions.ConfigurationError(
            f"[{group}] {name}: '{text}' is not a rate such as 600/minute, or 50/second;600/minute"
        ) from error
    return list(rates)


def _strategy(uri: str) -> strategies.RateLimiter:
    scheme = uri.partition(':')[0]
    try:
        storage: Any = storages.storage_from_string(
            uri, wrap_exceptions=True, **_OPTIONS.get(scheme, {})
        )
        return strategies.SlidingWindowCounterRateLimiter(storage)
    except Exception as error:
        # The address is left out: it may contain a password.
        raise exceptions.ConfigurationError(
            f'[rate_limit] storage: {scheme}:// cannot be used ({type(error).__name__}); it needs '
            "one of memory, memcached and redis, and 'openstack-climate[rate-limit]'"
        ) from error


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text.strip())
    except ValueError as error:
        raise exceptions.ConfigurationError(
            f"[rate_limit] exempt_addresses: '{text}' is neither an address nor a network"
        ) from error


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address; None for a Unix socket, for example."""
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def client_of(text: str) -> str:
    """Return the key of the client with an address."""
    return _client(_address(text))


def _client(address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> str:
    """Return the key of an address; one client with IPv6 has a whole /64 network.

    Clients without an address count as one.
    """
    if address is None:
        return 'unknown'
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, _IPV6_BITS), strict=False))
    return str(address)


class AddressRate:
    """Limits requests by client address, before anything else is done."""

    def __init__(self, app: WSGIApp, rates: Rates) -> None:
        self._app = app
        self._rates = rates

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on.

        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        self._rates.address(environ.get('REMOTE_ADDR') or '')
        return self._app(environ, start_response)


class ProjectRate:
    """Limits requests by the project of their token, before any work is done."""

    def __init__(self, app: WSGIApp, rates: Rates) -> None:
        self._app = app
        self._rates = rates

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Pass the request on.

        :raises climate.exceptions.TooManyRequests: if there are too many
        """
        self._rates.project(environ[CONTEXT].project_id)
        return self._app(environ, start_response)
