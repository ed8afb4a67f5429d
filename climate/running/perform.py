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

"""Runs the effects of a job, one reservation after the other."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Cloud
from climate.clients.fence import ClaimLost
from climate.domain.events import EventKind
from climate.domain.events import is_news
from climate.domain.leases import Lease
from climate.domain.lifecycles import LeaseStatus
from climate.leases.jobs import Job
from climate.leases.jobs import Report
from climate.leases.jobs import Step
from climate.plugins.contract import Done
from climate.plugins.contract import Outcome
from climate.plugins.contract import Plugin
from climate.plugins.contract import Work

LOG = logging.getLogger(__name__)

# What gives stops at the first failure; what takes away goes on, so that one
# reservation that cannot be ended does not keep the others.
_GOES_ON = frozenset({EventKind.END, EventKind.UNDO, EventKind.DELETE})


def perform(job: Job, plugins: Mapping[str, Plugin[Any]], cloud: Cloud) -> Report:
    """Run the effects of *job*.

    Never raises for what a plugin or the cloud does wrong: that is part of
    the report.

    :param cloud: within the fence of the claim on the lease
    :raises climate.clients.fence.ClaimLost: at once, if the claim is not sure
    """
    steps: list[Step] = []
    for work in job.works:
        if _too_early(job, work, steps, plugins):
            continue
        step = _step(job, work, plugins, cloud)
        steps.append(step)
        if step.error is not None and job.event.kind not in _GOES_ON:
            break
    if job.event.kind in _GOES_ON and job.lease.status is not LeaseStatus.PENDING:
        steps += _without_trust(job.lease, steps, cloud)
    return Report(steps=tuple(steps))


def _too_early(
    job: Job, work: Work, steps: Iterable[Step], plugins: Mapping[str, Plugin[Any]]
) -> bool:
    """Whether a reservation that this one depends on is not done yet.

    A part stays until the whole has released it: the room of a server must
    not be taken away while its image is being made. Likewise what may be used by
    a reservation that stands behind it. And the whole begins with what its parts
    have ready.
    """
    done = {step.reservation_id for step in steps if isinstance(step.outcome, Done)}
    if job.event.kind not in _GOES_ON:
        return any(part.reservation.id not in done for part in work.parts)
    if job.event.forced:
        done |= {step.reservation_id for step in steps if step.error is not None}
    mine = work.reservation
    plugin = plugins.get(mine.resource_type)
    users = plugin.used_by if plugin is not None else ()
    before = itertools.takewhile(lambda other: other is not work, job.works)
    waits_for = {one.reservation.id for one in before if one.reservation.resource_type in users}
    if mine.part_of is not None:
        waits_for.add(mine.part_of)
    return not waits_for <= done


def _without_trust(lease: Lease, steps: Iterable[Step], cloud: Cloud) -> list[Step]:
    """Delete the trust of a lease that is over, once nothing needs it any more."""
    if lease.trust_id is None or not all(isinstance(step.outcome, Done) for step in steps):
        return []
    try:
        cloud.identity.delete_trust(lease.trust_id)
    except exceptions.EffectError as error:
        return [Step(reservation_id='', error=error)]
    return [Step(reservation_id='', outcome=Done(steps=('the trust was deleted',)))]


def _effect(job: Job, plugin: Plugin[Any]) -> Callable[[Work, Cloud], Outcome]:
    """Return the effect of *plugin* that the event of *job* needs."""
    match job.event.kind:
        case EventKind.PREPARE:
            return plugin.prepare
        case EventKind.START | EventKind.UPDATE:
            return plugin.start
        case EventKind.CHECK:
            return plugin.check
        case EventKind.BEFORE_END:
            return plugin.before_end
        case EventKind.END | EventKind.DELETE if job.started:
            return plugin.end
        case EventKind.END | EventKind.DELETE | EventKind.UNDO:
            # A lease that never started is not ended: what was prepared is undone.
            return plugin.undo
    raise ValueError(f'{job.event.kind} has no effects')


def _step(job: Job, work: Work, plugins: Mapping[str, Plugin[Any]], cloud: Cloud) -> Step:
    reservation = work.reservation
    plugin = plugins.get(reservation.resource_type)
    if plugin is None:
        error = exceptions.Transient(f'no plugin serves {reservation.resource_type} here')
        return Step(reservation_id=reservation.id, error=error)
    effect = _effect(job, plugin)
    try:
        return Step(reservation_id=reservation.id, outcome=effect(work, cloud))
    except ClaimLost:
        raise
    except exceptions.EffectError as error:
        return Step(reservation_id=reservation.id, error=error)
    except exceptions.ClimateError as error:
        return Step(reservation_id=reservation.id, error=exceptions.Transient(error.message))
    except Exception as error:
        # A defect of a plugin must not take the manager with it. It may pass,
        # and if it does not, the deadline ends it.
        if is_news(job.event.attempts + 1):
            LOG.exception('Lease %s: %s raised', job.lease.id, job.event.kind)
        name = type(error).__name__
        return Step(
            reservation_id=reservation.id,
            error=exceptions.Transient(f'{name} in plugin {reservation.resource_type}'),
        )
