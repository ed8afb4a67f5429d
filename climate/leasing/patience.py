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

"""How long effects are waited for.

What fails is tried again until a deadline. What is under way is waited for
until then too, or for as long as the effect says that it may take; a failure
meanwhile, such as a service that restarts, is given the whole deadline from the
last time that all was well.
"""

from __future__ import annotations

import dataclasses
import datetime

from climate.domain.events import Event
from climate.leasing.jobs import Report

_WELL_AT = 'well_at'


def well(event: Event, report: Report, now: datetime.datetime) -> Event:
    """Return an event that remembers that what it waits for went well until now."""
    if report.patience <= datetime.timedelta(0):
        return event
    return dataclasses.replace(event, payload={**event.payload, _WELL_AT: now.isoformat()})


def expired(event: Event, now: datetime.datetime, deadline: datetime.timedelta) -> bool:
    """Whether an event has failed for so long that it is given up."""
    since = event.begun_at or now
    if event.begun_at is not None and _WELL_AT in event.payload:
        since = max(since, datetime.datetime.fromisoformat(event.payload[_WELL_AT]))
    return now - since >= deadline


def took_too_long(
    event: Event, report: Report, now: datetime.datetime, deadline: datetime.timedelta
) -> bool:
    """Whether what is under way is not waited for any more."""
    waited = now - (event.begun_at or now)
    return report.again is not None and waited >= max(deadline, report.patience)
