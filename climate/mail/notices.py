# SPDX-License-Identifier: Apache-2.0

"""The notices to owners that notifications lead to."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any
from typing import Final

from climate.domain import wording

_MOST_USES: Final = 20
_DAY: Final = 86400
_LENGTH_OF_DATE: Final = len('2030-01-01')

Reservations = Sequence[Mapping[str, Any]]


def _held_lines(reservations: Reservations) -> tuple[str, ...]:
    """Return a line for each reservation: what the owner holds, and its id.

    :raises KeyError: if they are not as Climate sends them; TypeError and ValueError likewise
    """
    return tuple(_held_line(one) for one in reservations if not one.get('part_of'))


def _uses_of(reservations: Reservations) -> tuple[tuple[str, str], ...]:
    """Return what the owner can do with them: titles, and texts to copy.

    :raises KeyError: if they are not as Climate sends them; TypeError and ValueError likewise
    """
    ways = [
        (str(one['title']), str(one['command'] or one['value']))
        for reservation in reservations
        for one in reservation.get('instructions') or ()
    ]
    return tuple(ways[:_MOST_USES])


def _held_line(reservation: Mapping[str, Any]) -> str:
    if 'noun' not in reservation:
        # Notifications that do not say what is held.
        return f'{reservation["resource_type"]}, {reservation["status"]}'
    held = wording.phrase(
        reservation.get('request') or {},
        str(reservation['noun_one']),
        str(reservation['noun']),
        [str(one['name']) for one in reservation['resources']],
        int(reservation['resources_count']),
    )
    return f'{held} (reservation {reservation["id"]})'


KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        'lease.moved': 'moved',
        'lease.event.before_start_lease': 'before_start',
        'lease.event.start_lease': 'started',
        'lease.yielding': 'yielding',
        'lease.yielded': 'yielding',
        'lease.event.before_end_lease': 'before_end',
        'lease.degraded': 'degraded',
        'lease.not_ready': 'degraded',
        'lease.trust.lost': 'degraded',
        'lease.event.error': 'error',
    }
)
"""The notice for each type of notification that has one."""

_YIELDED: Final = 'yielded'
_RESUMED: Final = 'resumed'
SERVER: Final = 'lease.server.yielding'
"""What the user of a server gets that is in the way of a lease: of ``yielding``, too."""
TYPES: Final = frozenset({*KINDS, SERVER})
"""The types of notifications that may lead to a notice."""
_SERVER: Final = 'server_yielding'
TEXTS: Final = (*dict.fromkeys(KINDS.values()), _YIELDED, _RESUMED, _SERVER)
"""The texts of mails: one for each notice, and what ``yielding`` has besides."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """A message to an owner, sent once.

    :ivar id: of the notification
    :ivar key: notices with the same key are duplicates
    :ivar kind: one of :data:`TEXTS`, such as ``before_end``
    :ivar name: of the lease; arbitrary text from a user
    :ivar start: of the lease (aware UTC), as :attr:`end`
    :ivar reason: why something failed; '' if nothing did
    :ivar resources: a line for each reservation: ``2 hosts: compute-3, compute-4``
    :ivar uses: what the owner can do with them, as titles and texts to copy
    :ivar project_name: '' if it is unknown
    :ivar operation: the event that has failed, such as ``start_lease``; '' if none has
    :ivar mode: what becomes of a lease that yields, such as ``suspend``; '' if it does not
    :ivar resumes: when it will probably resume (aware UTC); None if that is unknown
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
    mode: str = ''
    resumes: datetime.datetime | None = None

    @classmethod
    def load(cls, values: Mapping[str, Any]) -> Notice:
        """Return the notice with these JSON values.

        :raises KeyError: if something is missing; TypeError and ValueError likewise
        """
        read = dict(values)
        for name in ('start', 'end'):
            read[name] = datetime.datetime.fromisoformat(values[name])
        resumes = values.get('resumes')
        read['resumes'] = resumes and datetime.datetime.fromisoformat(resumes)
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
    event_type = envelope['event_type']
    if event_type not in TYPES:
        return None
    payload = envelope['payload']
    if not isinstance(payload, Mapping):
        raise TypeError('it has no payload')
    if event_type == SERVER:
        return _of_server(envelope, payload) if 'yielding' in defaults else None
    kind = KINDS[event_type]
    wanted = payload.get('notices')
    text = _text(event_type, kind, payload)
    if text == _RESUMED:
        kind = 'yielding'
    if kind not in (defaults if wanted is None else wanted):
        return None
    # Later announcements are for programs, but a lease can have its own.
    left = payload.get('seconds_to_start', least_before_start)
    if kind == 'before_start' and wanted is None and left < least_before_start:
        return None
    reservations = payload.get('reservations') or ()
    return Notice(
        id=str(envelope['message_id']),
        key=_key(kind, payload) or str(envelope['message_id']),
        kind=text,
        lease_id=str(payload['lease_id']),
        name=str(payload['name']),
        user_id=str(payload['user_id']),
        project_id=str(payload['project_id']),
        start=_instant(payload['start_date']),
        end=_instant(payload['end_date']),
        status=str(payload['status']),
        reason=_reason(payload),
        resources=_held_lines(reservations),
        uses=_uses_of(reservations),
        project_name=str(payload.get('project_name') or ''),
        operation=str(payload.get('event_type') or ''),
        mode=str(payload.get('yield') or ''),
        resumes=_instant(payload['resumes_at']) if payload.get('resumes_at') else None,
    )


def _of_server(envelope: Mapping[str, Any], payload: Mapping[str, Any]) -> Notice:
    """Return the notice to the user of a server that will be deleted."""
    at = _instant(payload['yields_at'])
    return Notice(
        id=str(envelope['message_id']),
        key=f'{_SERVER} {payload["object_id"]} {payload["yields_at"]}',
        kind=_SERVER,
        lease_id=str(payload['lease_id']),
        name=str(payload['object_name']) or str(payload['object_id']),
        user_id=str(payload['user_id']),
        project_id=str(payload['project_id']),
        start=at,
        end=at,
        status='',
        reason=str(payload['reason']),
        resources=(f'server {payload["object_id"]}',),
    )


def _text(event_type: str, kind: str, payload: Mapping[str, Any]) -> str:
    if event_type == 'lease.yielded':
        return _YIELDED
    return _RESUMED if payload.get('resumed') else kind


def _key(kind: str, payload: Mapping[str, Any]) -> str | None:
    """Return what notices that an owner gets once have in common; None if there is none."""
    # A start is announced several times, for programs.
    if kind == 'before_start':
        return f'{kind} {payload["lease_id"]} {payload["start_date"]}'
    # Each move of what begins soon; of other moves, one in a day.
    if kind == 'moved' and payload.get('seconds_to_start', 0) > _DAY:
        return f'{kind} {payload["lease_id"]} {payload["updated_at"][:_LENGTH_OF_DATE]}'
    return None


def _reason(payload: Mapping[str, Any]) -> str:
    if payload.get('waiting'):
        detail = payload.get('detail') or ''
        names = ', '.join(map(str, payload['waiting']))
        return f'not ready: {names}' + (f' ({detail})' if detail else '')
    return str(payload.get('reason') or '')


def _instant(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.UTC)
