# SPDX-License-Identifier: Apache-2.0

"""What tables call the events of leases and their states; the web page uses the same words."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

SCHEDULED: Final = 'scheduled'
_EVENTS: Final[Mapping[str, str]] = {
    'start_lease': 'start',
    'end_lease': 'end',
    'before_start_lease': 'reminder',
    'before_end_lease': 'reminder of the end',
    'check_lease': 'check',
    'update_lease': 'change',
    'undo_lease': 'undo',
    'delete_lease': 'delete',
}
_STATES: Final[Mapping[str, str]] = {
    'UNDONE': SCHEDULED,
    'IN_PROGRESS': 'in progress',
    'DONE': 'done',
    'ERROR': 'failed',
}
_NOTIFICATION: Final = 'notification'
_REMINDER: Final = 'before_start_lease'


def event(kind: str) -> str:
    """Return what people call a kind of event."""
    return _EVENTS.get(kind, kind)


def state(text: str) -> str:
    """Return what people call the state of an event."""
    return _STATES.get(text, text)


def for_people(events: Iterable[Mapping[str, Any]], time: str) -> Sequence[Mapping[str, Any]]:
    """Return the events that people want to see, in their order of time.

    Notifications are for programs; of those before the start, one is shown: the next, or the
    last.

    :param time: the key of the time of an event
    """
    ordered = sorted(events, key=lambda each: str(each[time]))
    reminders = [each for each in ordered if each['event_type'] == _REMINDER]
    ahead = [each for each in reminders if each.get('status', 'UNDONE') == 'UNDONE']
    shown = (ahead or reminders[-1:])[:1]
    return [
        each
        for each in ordered
        if each['event_type'] not in (_NOTIFICATION, _REMINDER) or each in shown
    ]
