# SPDX-License-Identifier: Apache-2.0

"""The preference ``wait`` of RFC 7240: answers that wait until a lease is settled.

If too many requests wait already, this one is answered at once, which the RFC allows.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http.environ_keys import CONTEXT
from climate.api.http.waits import Waits
from climate.api.http.wsgi import Environ
from climate.api.limits.shares import WORK
from climate.api.routing.services import Services
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus

APPLIED: Final = 'Preference-Applied'

# A deleted lease has no status.
_SETTLED = frozenset({LeaseStatus.ACTIVE, LeaseStatus.ERROR, LeaseStatus.TERMINATED, None})


def started(services: Services, waits: Waits, request: Any, response: Any, lease: Lease) -> Lease:
    """Wait for the start of a new lease, if the client prefers that; return the lease.

    Does not wait for a lease that starts later than the client wants to wait.
    """
    wanted = waits.wanted(request.environ)
    if not wanted:
        return lease
    leases = services.leases
    latest = services.clock.now() + datetime.timedelta(seconds=wanted)

    def settled() -> bool:
        return lease.period.start > latest or leases.status(lease.id) in _SETTLED

    if _wait(waits, request.environ, wanted, settled) is not None:
        response.headers[APPLIED] = f'wait={wanted}'
        # If it was deleted meanwhile, or cannot be read, it is shown as it was booked.
        with contextlib.suppress(exceptions.NotFound, exceptions.ServiceUnavailable):
            return leases.get(lease.id, lease.project_id)
    return lease


def removed(services: Services, waits: Waits, request: Any, response: Any, lease_id: str) -> None:
    """Wait until a deleted lease is gone, if the client prefers that.

    If it is not gone in time, the status of the response is 202.
    """
    wanted = waits.wanted(request.environ)
    if not wanted:
        return
    gone = _wait(waits, request.environ, wanted, lambda: services.leases.status(lease_id) is None)
    if gone is not None:
        response.headers[APPLIED] = f'wait={wanted}'
        if not gone:
            response.status = HTTPStatus.ACCEPTED


def _wait(waits: Waits, environ: Environ, wanted: int, settled: Callable[[], bool]) -> bool | None:
    # What follows costs next to nothing, so others of the project may begin.
    environ[WORK].idle()
    return waits.wait(wanted, settled, environ[CONTEXT].project_id)
