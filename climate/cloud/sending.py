# SPDX-License-Identifier: Apache-2.0

"""The last check of the fence, immediately before each request is sent.

A method may send several requests, and the libraries repeat requests after a time-out,
so a claim that was valid when the method started may have expired by then. See
:mod:`climate.cloud.fence`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from collections.abc import Iterator
from typing import Any

from climate import context
from climate.tracing import spans

_READ_ONLY = frozenset({'GET', 'HEAD', 'OPTIONS'})
_local = threading.local()


@contextlib.contextmanager
def guarded(guard: Callable[[], None]) -> Iterator[None]:
    """Call *guard* before each request of this thread that is not read-only."""
    before = getattr(_local, 'guard', None)
    _local.guard = guard
    try:
        yield
    finally:
        _local.guard = before


def fence(session: Any) -> None:
    """Call the guard for all requests of a session.

    :param session: a session of keystoneauth1, which this module does not import
    """
    for prefix, adapter in list(session.session.adapters.items()):
        session.session.mount(prefix, _Adapter(adapter))


def _mark(request: Any) -> None:
    """Add the ids of the request that a call goes back to, for the logs of the service."""
    traceparent = spans.traceparent()
    if traceparent is not None:
        request.headers.setdefault('traceparent', traceparent)
    work = context.work()
    if work is not None and work.origin is not None:
        global_id = work.origin.global_id
        if global_id is not None:
            request.headers.setdefault('X-OpenStack-Request-ID', global_id)


class _Adapter:
    """A transport adapter of the library ``requests`` that calls the guard.

    :param real: the adapter that sends the requests
    """

    def __init__(self, real: Any) -> None:
        self._real = real

    def send(self, request: Any, *others: Any, **options: Any) -> Any:
        """Send a request and return the response, as ``requests`` specifies.

        :raises climate.cloud.fence.ClaimLost: if the guard raises it
        """
        _mark(request)
        guard = getattr(_local, 'guard', None)
        if guard is not None and str(request.method).upper() not in _READ_ONLY:
            guard()
        return self._real.send(request, *others, **options)

    def close(self) -> None:
        """Close the connections."""
        self._real.close()
