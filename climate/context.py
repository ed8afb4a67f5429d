# SPDX-License-Identifier: Apache-2.0

"""The lease and event that a thread works on, for its log lines and requests.

The code that begins the work sets it; logs, traces and requests to the cloud read it. Setting it
takes less than a microsecond, because a manager does so for each lease.
"""

from __future__ import annotations

import contextvars
from types import TracebackType
from typing import Final
from typing import NamedTuple

from climate.domain.origins import RequestOrigin

_NO_ORIGIN: Final = RequestOrigin()


class WorkContext(NamedTuple):
    """What a thread works on. A tuple, because it is made several times for each event.

    :ivar lease_id: '' for a request over RPC, which is about no lease
    :ivar event: the kind of the event
    :ivar origin: the request that made or last changed the lease
    """

    lease_id: str
    event_id: str | None = None
    event: str | None = None
    origin: RequestOrigin | None = None
    reservation_id: str | None = None

    def of(self, reservation_id: str) -> WorkContext:
        """Return the same for one reservation of the lease."""
        return WorkContext(self.lease_id, self.event_id, self.event, self.origin, reservation_id)

    @property
    def known_origin(self) -> RequestOrigin:
        """The origin, or one without ids."""
        return self.origin or _NO_ORIGIN


_work: contextvars.ContextVar[WorkContext | None] = contextvars.ContextVar('work', default=None)


def work() -> WorkContext | None:
    """Return what this thread works on; None for nothing that belongs to one lease."""
    return _work.get()


class Working:
    """Sets what this thread works on, as a context manager.

    :param subject: the lease, event and reservation
    """

    __slots__ = ('_subject', '_token')

    def __init__(self, subject: WorkContext) -> None:
        self._subject = subject

    def __enter__(self) -> None:
        """Begin."""
        self._token = _work.set(self._subject)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Return to what the thread worked on before."""
        _work.reset(self._token)
