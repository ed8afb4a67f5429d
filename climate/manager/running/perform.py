# SPDX-License-Identifier: Apache-2.0

"""Runs the effects of a job, one reservation after the other."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.cloud import just_made
from climate.cloud.base import Cloud
from climate.cloud.fence import ClaimLost
from climate.cloud.just_made import JustMade
from climate.context import Working
from climate.domain.events import EventKind
from climate.domain.events import is_news
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.domain.lifecycles import LeaseStatus
from climate.leases.jobs import EffectResult
from climate.leases.jobs import Job
from climate.leases.jobs import Report
from climate.plugins.contract import Done
from climate.plugins.contract import Outcome
from climate.plugins.contract import Plugin
from climate.plugins.contract import Work
from climate.tracing import spans
from climate.tracing.spans import SpanKind

LOG = logging.getLogger(__name__)

# An effect that gives stops at the first failure. One that takes back continues, so
# that a reservation that cannot be ended does not hold up the others.
_CONTINUES = frozenset({EventKind.END, EventKind.UNDO, EventKind.DELETE})


def perform(job: Job, plugins: Mapping[str, Plugin[Any]], cloud: Cloud) -> Report:
    """Run the effects of *job*.

    Errors of plugins and of the cloud are part of the report and not raised.

    :param cloud: fenced by the claim on the lease
    :raises climate.cloud.fence.ClaimLost: at once, if the claim may have expired
    """
    with (
        Working(job.subject),
        spans.span(
            job.event.kind.value,
            SpanKind.CONSUMER,
            job.subject.known_origin.traceparent,
            _attributes(job) if spans.enabled() else None,
        ) as span,
    ):
        report = _performed(job, plugins, cloud)
        if report.error is not None:
            span.fail(type(report.error).__name__)
        return report


def _attributes(job: Job) -> spans.Attributes:
    origin = job.subject.known_origin
    return {
        'climate.lease_id': job.lease.id,
        'climate.event_id': job.event.id,
        'climate.attempts': job.event.attempts,
        'openstack.project_id': job.lease.project_id,
        'openstack.request_id': origin.request_id,
        'openstack.global_request_id': origin.global_request_id,
    }


def _performed(job: Job, plugins: Mapping[str, Plugin[Any]], cloud: Cloud) -> Report:
    steps: list[EffectResult] = []
    for work in job.works:
        if _too_early(job, work, steps, plugins):
            continue
        step = _step(job, work, plugins, cloud)
        steps.append(step)
        if step.error is not None and job.event.kind not in _CONTINUES:
            break
    over = job.event.kind in _CONTINUES and not job.yields
    if over and job.lease.status is not LeaseStatus.PENDING:
        steps += _delete_trust(job.lease, steps, cloud)
    return Report(steps=tuple(steps))


def _too_early(
    job: Job, work: Work, steps: Iterable[EffectResult], plugins: Mapping[str, Plugin[Any]]
) -> bool:
    """Whether a reservation that this one depends on is not done yet.

    A lease is taken back from the outside in: a part stays until its whole has
    released it, because a server needs its resources while its image is made, and
    so does a reservation that others of the lease may use. A lease is set up in
    the opposite order: a whole needs its parts.
    """
    done = {step.reservation_id for step in steps if isinstance(step.outcome, Done)}
    if job.event.kind not in _CONTINUES:
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


def _delete_trust(lease: Lease, steps: Iterable[EffectResult], cloud: Cloud) -> list[EffectResult]:
    """Delete the trust of an ended lease, once nothing needs it any more."""
    if lease.trust_id is None or not all(isinstance(step.outcome, Done) for step in steps):
        return []
    try:
        cloud.identity.delete_trust(lease.trust_id)
    except exceptions.EffectError as error:
        return [EffectResult(reservation_id='', error=error)]
    return [EffectResult(reservation_id='', outcome=Done(steps=('the trust was deleted',)))]


def _effect(job: Job, work: Work, plugin: Plugin[Any]) -> Callable[[Work, Cloud], Outcome]:
    """Return the effect of *plugin* that the event of *job* needs."""
    if job.event.kind is EventKind.BEFORE_END and job.lease.rest:
        # It does not end yet.
        return _nothing
    if job.yields:
        # What is part of something that is suspended is only room.
        keeps = job.lease.yields is YieldMode.SUSPEND and work.reservation.part_of is None
        return plugin.suspend if keeps else plugin.restart
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
            # A lease that never started does not end: what was prepared is undone.
            return plugin.undo
    raise ValueError(f'{job.event.kind} has no effects')


def _nothing(_work: Work, _cloud: Cloud) -> Outcome:
    return Done()


def _step(job: Job, work: Work, plugins: Mapping[str, Plugin[Any]], cloud: Cloud) -> EffectResult:
    reservation = work.reservation
    plugin = plugins.get(reservation.resource_type)
    if plugin is None:
        error = exceptions.Transient(f'this manager has no plugin {reservation.resource_type}')
        return EffectResult(reservation_id=reservation.id, error=error)
    effect = _effect(job, work, plugin)
    # A plugin may have any callable as its effect.
    name = getattr(effect, '__name__', job.event.kind.value)
    try:
        with (
            Working(job.subject.of(reservation.id)),
            spans.span(
                f'{reservation.resource_type} {name}',
                attributes={'climate.reservation_id': reservation.id},
            ),
        ):
            seen = JustMade(cloud, _known(work))
            return EffectResult(reservation_id=reservation.id, outcome=effect(work, seen))
    except ClaimLost:
        raise
    except exceptions.EffectError as error:
        return EffectResult(reservation_id=reservation.id, error=just_made.temporary(error))
    except exceptions.ClimateError as error:
        return EffectResult(
            reservation_id=reservation.id, error=exceptions.Transient(error.message)
        )
    except Exception as error:
        # A bug in a plugin must not stop the manager. The error may be temporary;
        # if it is not, the deadline ends the attempts.
        if is_news(job.event.attempts + 1):
            LOG.exception('Lease %s: %s raised', job.lease.id, job.event.kind)
        why = f'{type(error).__name__} in plugin {reservation.resource_type}'
        return EffectResult(reservation_id=reservation.id, error=exceptions.Transient(why))


def _known(work: Work) -> set[str]:
    """Return the texts by which objects of a reservation and of its parts are known."""
    texts = set[str]()
    for each in (work, *work.parts):
        texts.add(each.reservation.id)
        texts |= {
            str(value)
            for value in each.reservation.facts.values()
            if value and isinstance(value, (str, int)) and not isinstance(value, bool)
        }
    return texts
