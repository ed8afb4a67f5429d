# SPDX-License-Identifier: Apache-2.0

"""A lease to make notifications of."""

from __future__ import annotations

import datetime
from typing import Any

from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.history import DeletedObject
from climate.domain.history import EvictedServer
from climate.domain.holdings import HeldResource
from climate.domain.holdings import Holding
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from climate.domain.leases import Reservation
from climate.domain.lifecycles import ReservationStatus
from climate.domain.nouns import Nouns
from climate.domain.owners import Owner
from climate.domain.owners import StoppedSubscription
from climate.domain.periods import Period
from climate.domain.resources import Resource
from climate.messaging import payloads
from climate.messaging import publisher

START = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
END = START + datetime.timedelta(hours=1)
CREATED = START - datetime.timedelta(days=1)
SECRET = 'gAAAAAB-not-for-you'

KINDS = {
    'lease.event.before_start_lease': EventKind.BEFORE_START,
    'lease.event.start_lease': EventKind.START,
    'lease.event.notification': EventKind.NOTIFICATION,
    'lease.event.before_end_lease': EventKind.BEFORE_END,
    'lease.event.end_lease': EventKind.END,
    'lease.yielding': EventKind.BEFORE_END,
    'lease.yielded': EventKind.END,
    'lease.event.error': EventKind.START,
    'lease.degraded': EventKind.CHECK,
    'lease.not_ready': EventKind.START,
}

DESCRIPTIONS = {
    'r1': {
        'min': 1,
        'max': 2,
        'resource_properties': '[">=", "$vcpus", "8"]',
        'trust_id': SECRET,
        'nested': [{'admin_password': SECRET, 'fine': True}],
    }
}


SAID = Readiness(
    ready=('compute-1',), waiting=('compute-2',), by='climate-power', detail='', at=START
)

DELETIONS = {
    f'lease.{name}.deleted': DeletedObject(
        lease_id='l1',
        reservation_id='r1',
        event_id='e1',
        event='start_lease',
        object_type=object_type,
        object_id='o1',
        name='web',
        project_id='p2',
        host='compute-1',
        reason='the lease starts',
        at=START,
    )
    for name, object_type in (('server', 'server'), ('object', 'volume'))
}

STOPPED = ('webhook.stopped', 'feed.stopped')

USE = {
    'name': 'create_server',
    'title': 'Create a server on these hosts',
    'command': 'openstack server create --hint reservation=r1 NAME',
    'value': '',
}

HOST = Resource(id=7, resource_type='physical:host', name='compute-7')


def event(kind: EventKind, time: datetime.datetime = START) -> Event:
    return Event(id=f'id-of-{kind}', lease_id='l1', kind=kind, time=time, due=time)


def lease(**changes: Any) -> Lease:
    values: dict[str, Any] = {
        'id': 'l1',
        'name': 'demo',
        'user_id': 'u1',
        'project_id': 'p1',
        'period': Period(start=START, end=END),
        'reservations': (
            Reservation(
                id='r1',
                lease_id='l1',
                resource_type='physical:host',
                request={'min': 1},
                status=ReservationStatus.ACTIVE,
                facts={'aggregate_id': 17, 'token': SECRET, 'trust_id': SECRET},
            ),
            Reservation(id='r2', lease_id='l1', resource_type='other', request={}),
        ),
        'events': tuple(event(kind) for kind in EventKind),
        'notices': ('started', 'error'),
        'created_at': CREATED,
        'project_name': 'physics',
    }
    return Lease(**{**values, **changes})


HELD = {
    one.id: payloads.holding(one, words, held, uses)
    for one, words, held, uses in zip(
        lease().reservations,
        (Nouns('host', 'hosts'), Nouns('network', 'networks')),
        (Holding((HeldResource(1, 'compute-1'), HeldResource(2, 'compute-2')), 2), Holding()),
        ([USE], []),
        strict=True,
    )
}


def payload(
    event_type: str, *, now: datetime.datetime = START, of: Lease | None = None
) -> dict[str, Any]:
    if event_type in DELETIONS:
        return payloads.deletion(DELETIONS[event_type])
    if event_type == 'lease.server.yielding':
        server = EvictedServer(id='o1', name='web', project_id='p2', user_id='u2', host='compute-1')
        return payloads.eviction(of or lease(), server)
    if event_type in STOPPED:
        owner = Owner(project_id='p1', user_id='u1', privileged=False)
        stopped = StoppedSubscription(id='l1', name='demo')
        return payloads.stopped(event_type, owner, stopped, reason='u1 is deleted', now=now)
    if event_type.startswith('resource.'):
        return payloads.resource(event_type, HOST, reason='vcpus is 8, not 16', now=now)
    kind = KINDS.get(event_type)
    moved = {'reservation_id': 'r1', 'from': ['compute-1'], 'to': ['compute-2']}
    return payloads.build(
        event_type,
        of or lease(),
        now=now,
        event=None if kind is None else event(kind),
        descriptions=DESCRIPTIONS,
        reason='Nova is away',
        moved=moved if event_type == 'lease.rehomed' else {},
        readiness=SAID if event_type in ('lease.ready', 'lease.not_ready') else None,
        held=HELD,
    )


def message(number: int = 1, event_type: str = 'lease.create') -> publisher.OutboxMessage:
    return publisher.OutboxMessage(
        id=f'00000000-0000-4000-8000-{number:012}',
        event_type=event_type,
        payload=payload(event_type),
        created_at=CREATED,
        priority=payloads.priority(event_type),
    )
