# SPDX-License-Identifier: Apache-2.0

"""The notices to owners that notifications lead to."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from typing import Final

from climate.mail import holdings

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        'lease.event.before_start_lease': 'before_start',
        'lease.event.start_lease': 'started',
        'lease.event.before_end_lease': 'before_end',
        'lease.degraded': 'degraded',
        'lease.not_ready': 'degraded',
        'lease.trust.lost': 'degraded',
        'lease.event.error': 'error',
    }
)
"""The notice for each type of notification that has one."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """A message to an owner, sent once.

    :ivar id: of the notification
    :ivar key: notices with the same key are duplicates
    :ivar kind: such as ``before_end``
    :ivar name: of the lease; arbitrary text from a user
    :ivar start: of the lease (aware UTC), as :attr:`end`
    :ivar reason: why something failed; '' if nothing did
    :ivar resources: a line for each reservation: ``2 hosts: compute-3, compute-4``
    :ivar uses: what the owner can do with them, as titles and texts to copy
    :ivar project_name: '' if it is unknown
    :ivar operation: the event that has failed, such as ``start_lease``; '' if none has
    """

    id: str
    key: str
    kind: str
    lease_id: str
    name: str
    user_id: str
    project_id: str
    start: datetime.datetime
    end: datetime.datetime
    status: str
    reason: str = ''
    resources: tuple[str, ...] = ()
    uses: tuple[tuple[str, str], ...] = ()
    project_name: str = ''
    operation: str = ''

    @classmethod
    def load(cls, values: Mapping[str, Any]) -> Notice:
        """Return the notice with these JSON values.

        :raises KeyError: if something is missing; TypeError and ValueError likewise
        """
        read = dict(values)
        for name in ('start', 'end'):
            read[name] = datetime.datetime.fromisoformat(values[name])
        read['resources'] = tuple(values['resources'])
        read['uses'] = tuple((title, text) for title, text in values['uses'])
        return cls(**read)


def read(
    envelope: Mapping[str, Any], defaults: Collection[str], least_before_start: int = 0
) -> Notice | None:
    """Return what a notification means to the owner of the lease; None if nothing.

    :param defaults: the notices for owners who have not said what they want
    :param least_before_start: how long before a start they are notified at the latest, in
        seconds
    :raises KeyError: if it is not as Climate sends it; TypeError and ValueError likewise
    """
    kind = KINDS.get(envelope['event_type'])
    if kind is None:
        return None
    payload = envelope['payload']
    if not isinstance(payload, Mapping):
        raise TypeError('it has no payload')
    wanted = payload.get('notices')
    if kind not in (defaults if wanted is None else wanted):
        return None
    # Later announcements are for programs, but a lease can have its own.
    left = payload.get('seconds_to_start', least_before_start)
    if wanted is None and left < least_before_start:
        return None
    # A start is announced several times, for programs; owners get one notice.
    once = f'{kind} {payload["lease_id"]} {payload["start_date"]}'
    reservations = payload.get('reservations') or ()
    return Notice(
        id=str(envelope['message_id']),
        key=once if kind == 'before_start' else str(envelope['message_id']),
        kind=kind,
        lease_id=str(payload['lease_id']),
        name=str(payload['name']),
        user_id=str(payload['user_id']),
        project_id=str(payload['project_id']),
        start=_instant(payload['start_date']),
        end=_instant(payload['end_date']),
        status=str(payload['status']),
        reason=_reason(payload),
        resources=holdings.lines(reservations),
        uses=holdings.uses(reservations),
        project_name=str(payload.get('project_name') or ''),
        operation=str(payload.get('event_type') or ''),
    )


def _reason(payload: Mapping[str, Any]) -> str:
    if payload.get('waiting'):
        detail = payload.get('detail') or ''
        names = ', '.join(map(str, payload['waiting']))
        return f'not ready: {names}' + (f' ({detail})' if detail else '')
    return str(payload.get('reason') or '')


def _instant(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)
