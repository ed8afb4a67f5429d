# SPDX-License-Identifier: Apache-2.0

"""Plays cases in which leases have windows, and prints which of them get resources."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Final

from benchmarks import planner_service
from benchmarks.planner_inputs import PlannerCase
from benchmarks.planner_service import PlannedService
from climate.domain.leases import YieldMode

DONE: Final = 'done'
REJECTED: Final = 'rejected'


def fates(engine: str, case: PlannerCase, *, suspends: bool = False) -> Mapping[str, str]:
    """Return what becomes of the leases of a case, by the names of their requests.

    :param suspends: whether those that are preemptible are suspended; otherwise they begin again
    :raises RuntimeError: if a lease is accepted, and does not end in its window
    """
    found, names = {}, {}
    mode = YieldMode.SUSPEND if suspends else YieldMode.REQUEUE
    with PlannedService(engine, case.nodes) as service:
        for one in sorted(case.requests, key=operator.attrgetter('known')):
            _pass(service, one.known)
            booked = service.book(
                one.nodes,
                earliest=planner_service.written(one.earliest),
                latest=planner_service.written(one.latest),
                duration=one.duration,
                preempt_own=True,
                **({'preemptible': True, 'yield': mode} if one.preemptible else {}),
            )
            found[one.name] = REJECTED if booked is None else DONE
            if booked is not None:
                names[booked['id']] = one
        for lease_id, end in _pass(service, None).items():
            if end > names.pop(lease_id).latest:
                raise RuntimeError(f'{case.name}: lease {lease_id} ends too late')
        if names:
            raise RuntimeError(f'{case.name}: {len(names)} leases have not ended')
    return found


def _pass(service: PlannedService, until: float | None) -> Mapping[str, float]:
    """Let time pass; return the ends of all leases that have ended.

    :param until: None to wait until nothing is due
    """
    while (due := service.due()) is not None and (until is None or due <= until):
        service.move_to(max(due, service.now()))
        service.work()
        service.planner.round()
    if until is not None:
        service.move_to(until)
    return service.ended()
