# SPDX-License-Identifier: Apache-2.0

"""The timeline of one lease, made by the code that schedules real ones."""

from __future__ import annotations

import datetime

from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.periods import Period
from climate.leases import schedule
from climate.leases.settings import LeasingSettings
from doc.ext.charts import Picture
from doc.ext.sheet import Sheet

NOW = datetime.datetime(2030, 1, 2, 9, tzinfo=datetime.UTC)
START = NOW + datetime.timedelta(hours=24)
END = START + datetime.timedelta(hours=8)
# The defaults, and a pause that most operators want.
SETTINGS = LeasingSettings(cleaning_time=datetime.timedelta(minutes=30))
WORDS = {
    EventKind.BEFORE_START: (
        'start announced',
        'subscribers get a notification, owners a mail if they want one',
    ),
    EventKind.PREPARE: ('prepared', 'slow steps run ahead of time'),
    EventKind.START: ('start', 'the cloud hands the resources over: STARTING, then ACTIVE'),
    EventKind.BEFORE_END: ('end announced', 'a notification; servers get snapshots if asked for'),
    EventKind.END: ('end', 'the resources are taken back: TERMINATING, then TERMINATED'),
}
_ROW = 46
_AXIS = 112


def moments() -> list[tuple[datetime.datetime, str, str]]:
    """Return what happens when: time, name, explanation."""
    period = Period(start=START, end=END)
    lease = Lease(
        id='lease', name='lease', user_id='user', project_id='project', period=period
    )  # fmt: skip
    events = schedule.initial(
        lease, (), prepares=schedule.Preparation.SHORTLY_BEFORE, now=NOW, settings=SETTINGS
    )
    free = period.padded(SETTINGS.cleaning_time).end
    return [
        (NOW, 'booked', 'the request is answered: PENDING; the resources are reserved'),
        *sorted((event.time, *WORDS[event.kind]) for event in events),
        (free, 'cleaned', 'the next lease of the same resources can start'),
    ]


def timeline() -> Picture:
    """Draw the moments below each other, each with its distance from the start."""
    found = moments()
    sheet = Sheet(height=44 + _ROW * len(found), width=490)
    sheet.text(12, 24, 'One lease of eight hours, booked a day ahead', 'head')
    # In order, not to scale: a day and a minute are next to each other.
    rows = [58 + _ROW * number for number in range(len(found))]
    places = dict(zip((time for time, _, _ in found), rows, strict=True))
    sheet.bar(_AXIS - 2, places[NOW], 4, places[START] - places[NOW], 'second')
    sheet.bar(_AXIS - 4, places[START], 8, places[END] - places[START], 'first')
    sheet.bar(_AXIS - 2, places[END], 4, places[found[-1][0]] - places[END], 'out')
    for y, (time, name, words) in zip(rows, found, strict=True):
        kind = 'first' if START <= time <= END else 'second' if time < START else 'out'
        sheet.add('circle', class_=kind, cx=_AXIS, cy=y, r=7 if time in (START, END) else 5)
        sheet.text(_AXIS - 18, y + 4, _distance(time), 'small', 'end')
        sheet.text(_AXIS + 18, y - 2, name)
        sheet.text(_AXIS + 18, y + 13, words, 'small')
    told = ' '.join(f'{_distance(time)}: {name}: {words}.' for time, name, words in found)
    return Picture(sheet=sheet, title='Timeline of a lease', description=told)


def _distance(time: datetime.datetime) -> str:
    """Return the time from the start, or from the end if it is nearer."""
    if time in (START, END):
        return 'start' if time == START else 'end'
    anchor = 'start' if time < START else 'end'
    seconds = (time - (START if time < START else END)).total_seconds()
    sign = '−' if seconds < 0 else '+'
    minutes = abs(seconds) / 60
    size = f'{minutes / 60:g} h' if minutes >= 60 else f'{minutes:g} min'
    return f'{anchor} {sign} {size}'
