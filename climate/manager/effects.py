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

import logging
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Cloud
from climate.domain.events import EventKind
from climate.leasing.jobs import Job
from climate.leasing.jobs import Report
from climate.leasing.jobs import Step
from climate.plugins.base import Outcome
from climate.plugins.base import Plugin
from climate.plugins.base import Work

LOG = logging.getLogger(__name__)

_METHODS = {
    EventKind.PREPARE: 'prepare',
    EventKind.START: 'start',
    EventKind.UPDATE: 'start',
    EventKind.CHECK: 'check',
    EventKind.BEFORE_END: 'before_end',
    EventKind.END: 'end',
    EventKind.UNDO: 'end',
    EventKind.DELETE: 'end',
}
# What gives stops at the first failure; what takes away goes on, so that one
# reservation that cannot be ended does not keep the others.
_GOES_ON = frozenset({EventKind.END, EventKind.UNDO, EventKind.DELETE})


def perform(job: Job, plugins: Mapping[str, Plugin[Any]], cloud: Cloud) -> Report:
    """Run the effects of *job*.

    Never raises for what a plugin or the cloud does wrong: that is part of
    the report.
    """
    steps = []
    for work in job.works:
        step = _step(job, work, plugins, cloud)
        steps.append(step)
        if step.error is not None and job.event.kind not in _GOES_ON:
            break
    return Report(steps=tuple(steps))


def _step(job: Job, work: Work, plugins: Mapping[str, Plugin[Any]], cloud: Cloud) -> Step:
    reservation = work.reservation
    plugin = plugins.get(reservation.resource_type)
    if plugin is None:
        error = exceptions.Transient(f'no plugin serves {reservation.resource_type} here')
        return Step(reservation_id=reservation.id, error=error)
    effect: Callable[[Work, Cloud], Outcome] = getattr(plugin, _METHODS[job.event.kind])
    try:
        return Step(reservation_id=reservation.id, outcome=effect(work, cloud))
    except exceptions.EffectError as error:
        return Step(reservation_id=reservation.id, error=error)
    except exceptions.ClimateError as error:
        return Step(reservation_id=reservation.id, error=exceptions.Transient(error.message))
    except Exception as error:
        # A defect of a plugin must not take the manager with it. It may pass,
        # and if it does not, the deadline ends it.
        LOG.exception('Lease %s: %s raised', job.lease.id, job.event.kind)
        name = type(error).__name__
        return Step(
            reservation_id=reservation.id,
            error=exceptions.Transient(f'{name} in plugin {reservation.resource_type}'),
        )
