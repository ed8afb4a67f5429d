# SPDX-License-Identifier: Apache-2.0

"""The rows of servers in the simulated Nova, and the changes of their state over time."""

from __future__ import annotations

import datetime
import json
import sqlite3
from collections.abc import Mapping

from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Flavor
from climate.cloud.base import Server
from climate.cloud.base import ServerDraft
from climate.simulator import attachments
from climate.simulator import scheduler
from climate.simulator.store import Db
from climate.simulator.verbs import check_metadata

NO_ROOM = 'No valid host was found. There are not enough hosts available.'

# Columns that a server has under the same names.
_SAME = (
    *('id', 'name', 'project_id', 'host', 'hypervisor_hostname'),
    *('status', 'task_state', 'fault'),
)
METADATA_STATUSES = frozenset({'ACTIVE', 'PAUSED', 'SUSPENDED', 'SHUTOFF'})

SCHEMA = """
CREATE TABLE IF NOT EXISTS servers (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    host TEXT NOT NULL,
    hypervisor_hostname TEXT NOT NULL,
    flavor TEXT NOT NULL,
    status TEXT NOT NULL,
    task_state TEXT,
    gone_at REAL,
    next_status TEXT,
    next_at REAL,
    vcpus INTEGER NOT NULL DEFAULT 0,
    metadata TEXT NOT NULL DEFAULT '{}',
    draft TEXT NOT NULL DEFAULT '{}',
    group_id TEXT NOT NULL DEFAULT '',
    locked INTEGER NOT NULL DEFAULT 0,
    fault TEXT NOT NULL DEFAULT '',
    shelved_image TEXT
);
CREATE INDEX IF NOT EXISTS servers_by_host ON servers (host);
CREATE INDEX IF NOT EXISTS servers_by_flavor ON servers (flavor);
CREATE INDEX IF NOT EXISTS servers_going ON servers (gone_at) WHERE gone_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS servers_changing ON servers (next_at) WHERE next_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS hidden_hosts (host TEXT PRIMARY KEY) WITHOUT ROWID;
"""


def settle(db: Db) -> None:
    """Complete the operations that are due."""
    for row in db.rows('SELECT id FROM servers WHERE gone_at <= ?', db.now):
        forget(db, row['id'])
    # Repeated, because a shelved server is offloaded next, which may also be due.
    due = 'SELECT id, next_status, next_at FROM servers WHERE next_at <= ? ORDER BY next_at'
    while rows := db.rows(due, db.now):
        for row in rows:
            _complete(db, row)


def forget(db: Db, server_id: str) -> None:
    """Delete a server, with its allocations, attachments and shelved image."""
    scheduler.release(db, server_id)
    _delete_shelved_image(db, server_id)
    attachments.forget(db, server_id)
    db.delete('servers', id=server_id)


def _complete(db: Db, row: sqlite3.Row) -> None:
    status = row['next_status']
    db.update('servers', row['id'], status=status, task_state=None, next_status=None, next_at=None)
    if status == 'SHELVED':
        next_at = row['next_at'] + db.seconds('shelved_offload')
        db.update('servers', row['id'], next_status='SHELVED_OFFLOADED', next_at=next_at)
    elif status == 'SHELVED_OFFLOADED':
        scheduler.release(db, row['id'])
        db.update('servers', row['id'], host='', hypervisor_hostname='')
    elif status == 'ACTIVE':
        _delete_shelved_image(db, row['id'])
        db.update('servers', row['id'], shelved_image=None)


def _delete_shelved_image(db: Db, server_id: str) -> None:
    db.run(
        'DELETE FROM images WHERE id = (SELECT shelved_image FROM servers WHERE id = ?)', server_id
    )


def creation_record(db: Db, project_id: str, user_id: str = '') -> dict[str, object]:
    """Return the time and the user of a creation, for the column ``draft``.

    :param user_id: the user who creates the server; one named after the project if ''
    """
    return {'created': db.now, 'user': user_id or f'user-of-{project_id}'}


def _server(db: Db, row: sqlite3.Row) -> Server:
    kept = json.loads(row['draft'])
    created = datetime.datetime.fromtimestamp(int(kept.get('created', 0)), datetime.UTC)
    return Server(
        **{name: row[name] for name in _SAME},
        user_id=kept.get('user', ''),
        created_at=created,
        flavor_id=row['flavor'],
        metadata=json.loads(row['metadata']),
        volume_ids=attachments.of_server(db, row['id']),
        locked=bool(row['locked']),
    )


def servers(db: Db, *, host: str | None = None, flavor: str | None = None) -> tuple[Server, ...]:
    """Return the servers on a service host, with a flavor, or all servers, by id."""
    settle(db)
    rows = db.rows(
        'SELECT * FROM servers WHERE (? IS NULL OR host = ?) AND (? IS NULL OR flavor = ?)'
        ' ORDER BY id',
        host,
        host,
        flavor,
        flavor,
    )
    return tuple(_server(db, row) for row in rows)


def listed(db: Db, service_host: str) -> tuple[Server, ...]:
    """Return the servers that Nova lists for a service host; none if it is hidden."""
    if db.has('hidden_hosts', host=service_host):
        return ()
    return servers(db, host=service_host)


def find(db: Db, server_id: str) -> Server | None:
    """Return a server; None if it does not exist."""
    settle(db)
    row = db.find('servers', id=server_id)
    return None if row is None else _server(db, row)


def since(db: Db, instant: datetime.datetime) -> tuple[Server, ...]:
    """Return the servers created since *instant*, oldest first."""
    first = instant.replace(microsecond=0)
    new = [server for server in servers(db) if server.created_at >= first]
    return tuple(sorted(new, key=lambda server: (server.created_at, server.id)))


def hints(db: Db, server_id: str) -> Mapping[str, object]:
    """Return the scheduler hints of a server; empty if it does not exist."""
    row = db.row('SELECT draft FROM servers WHERE id = ?', server_id)
    stored: dict[str, object] = {} if row is None else json.loads(row['draft']).get('hints', {})
    return stored


def set_metadata(db: Db, server_id: str, metadata: Mapping[str, str]) -> None:
    """Set metadata of a server; other keys stay as they are.

    :raises CloudNotFound: if it does not exist
    :raises CloudConflict: if it is shelved or busy, as in Nova
    """
    check_metadata(metadata)
    server = find(db, server_id)
    if server is None:
        raise CloudNotFound(f'the simulated cloud has no server {server_id}')
    if server.status not in METADATA_STATUSES or server.task_state is not None:
        raise CloudConflict(f'the metadata of a server that is {server.status} cannot be changed')
    changed = json.dumps({**server.metadata, **metadata})
    db.update('servers', server_id, metadata=changed)


def insert(
    db: Db,
    server_id: str,
    draft: ServerDraft,
    flavor: Flavor,
    project_id: str,
    place: scheduler.HostPlace | None,
) -> None:
    """Insert a server: on a host, or with the status ``ERROR`` if *place* is None."""
    for each in draft.block_device_mapping:
        if each.get('source_type') == 'volume':
            attachments.attach(db, str(each['uuid']), server_id)
    kept = {
        'hints': dict(draft.scheduler_hints),
        'zone': draft.availability_zone,
        **creation_record(db, project_id),
    }
    db.insert(
        'servers',
        id=server_id,
        name=draft.name,
        project_id=project_id,
        host=place.host if place else '',
        hypervisor_hostname=place.hypervisor_hostname if place else '',
        flavor=flavor.id,
        status='BUILD' if place else 'ERROR',
        vcpus=flavor.vcpus,
        metadata=json.dumps(dict(draft.metadata)),
        draft=json.dumps(kept),
        group_id=draft.scheduler_hints.get('group', ''),
        fault='' if place else NO_ROOM,
    )
    if place is not None:
        scheduler.claim(db, server_id, place)
