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

"""Nova, as the twin has it."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Mapping

from climate import exceptions
from climate.clients.base import Aggregate
from climate.clients.base import AVAILABILITY_ZONE_KEY
from climate.clients.base import CloudConflict
from climate.clients.base import CloudNotFound
from climate.clients.base import Hypervisor
from climate.clients.base import Server
from climate.clients.fake.gate import Gate
from climate.clients.fake.store import Db

# The zone of hosts that no aggregate puts into another one, as in Nova.
DEFAULT_ZONE = 'nova'

SCHEMA = """
CREATE TABLE IF NOT EXISTS hypervisors (
    id TEXT PRIMARY KEY,
    hostname TEXT NOT NULL UNIQUE,
    service_host TEXT NOT NULL,
    hypervisor_type TEXT NOT NULL,
    hypervisor_version INTEGER NOT NULL,
    vcpus INTEGER NOT NULL,
    memory_mb INTEGER NOT NULL,
    local_gb INTEGER NOT NULL,
    cpu_info TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('up', 'down')),
    status TEXT NOT NULL CHECK (status IN ('enabled', 'disabled'))
);
CREATE INDEX IF NOT EXISTS hypervisors_by_host ON hypervisors (service_host);
CREATE TABLE IF NOT EXISTS servers (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    host TEXT NOT NULL,
    hypervisor_hostname TEXT NOT NULL,
    flavor TEXT NOT NULL,
    status TEXT NOT NULL,
    task_state TEXT,
    gone_at REAL
);
CREATE INDEX IF NOT EXISTS servers_by_host ON servers (host);
CREATE INDEX IF NOT EXISTS servers_going ON servers (gone_at) WHERE gone_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS images (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    server_id TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS aggregates (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    availability_zone TEXT
);
CREATE TABLE IF NOT EXISTS aggregate_hosts (
    aggregate_id INTEGER NOT NULL REFERENCES aggregates (id),
    host TEXT NOT NULL,
    PRIMARY KEY (aggregate_id, host)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS aggregates_by_host ON aggregate_hosts (host);
CREATE TABLE IF NOT EXISTS aggregate_metadata (
    aggregate_id INTEGER NOT NULL REFERENCES aggregates (id),
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (aggregate_id, key)
) WITHOUT ROWID;
"""

_HYPERVISORS = """
SELECT h.*, coalesce(
    (SELECT a.availability_zone FROM aggregates a JOIN aggregate_hosts m ON m.aggregate_id = a.id
     WHERE m.host = h.service_host AND a.availability_zone IS NOT NULL LIMIT 1), ?
) AS availability_zone
FROM hypervisors h
"""


class FakeCompute:
    """Fulfils :class:`climate.clients.base.Compute`."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def list_hypervisors(self) -> tuple[Hypervisor, ...]:
        """Return every hypervisor, by hostname."""
        return self._gate.run('compute.list_hypervisors', (), hypervisors)

    def find_hypervisor(self, name_or_id: str) -> Hypervisor | None:
        """Return the hypervisor of this hostname or id."""
        return self._gate.run(
            'compute.find_hypervisor', (name_or_id,), lambda db: find_hypervisor(db, name_or_id)
        )

    def list_servers(self, service_host: str) -> tuple[Server, ...]:
        """Return the servers of all projects on a service host, by id."""
        return self._gate.run(
            'compute.list_servers', (service_host,), lambda db: servers(db, service_host)
        )

    def find_server(self, server_id: str) -> Server | None:
        """Return a server; None if there is none."""
        return self._gate.run(
            'compute.find_server', (server_id,), lambda db: _find_server(db, server_id)
        )

    def delete_server(self, server_id: str) -> None:
        """Begin to delete a server."""
        self._gate.run(
            'compute.delete_server', (server_id,), lambda db: _delete_server(db, server_id)
        )

    def create_image(self, server_id: str, name: str) -> str:
        """Make an image of a server and return the image's id."""
        return self._gate.run(
            'compute.create_image', (server_id, name), lambda db: _create_image(db, server_id, name)
        )

    def list_aggregates(self) -> tuple[Aggregate, ...]:
        """Return every aggregate, by id."""
        return self._gate.run('compute.list_aggregates', (), aggregates)

    def find_aggregate(self, name: str) -> Aggregate | None:
        """Return the aggregate of this name; None if there is none."""
        return self._gate.run(
            'compute.find_aggregate', (name,), lambda db: find_aggregate(db, name)
        )

    def create_aggregate(self, name: str, availability_zone: str | None) -> Aggregate:
        """Make an empty aggregate."""
        return self._gate.run(
            'compute.create_aggregate',
            (name, availability_zone),
            lambda db: create_aggregate(db, name, availability_zone),
        )

    def set_aggregate_metadata(self, aggregate_id: int, metadata: Mapping[str, str | None]) -> None:
        """Set the keys named; a None removes its key."""
        self._gate.run(
            'compute.set_aggregate_metadata',
            (aggregate_id, dict(metadata)),
            lambda db: _set_aggregate_metadata(db, aggregate_id, metadata),
        )

    def add_host(self, aggregate_id: int, host: str) -> None:
        """Put a service host into an aggregate."""
        self._gate.run(
            'compute.add_host', (aggregate_id, host), lambda db: add_host(db, aggregate_id, host)
        )

    def remove_host(self, aggregate_id: int, host: str) -> None:
        """Take a service host out of an aggregate."""
        self._gate.run(
            'compute.remove_host',
            (aggregate_id, host),
            lambda db: _remove_host(db, aggregate_id, host),
        )

    def delete_aggregate(self, aggregate_id: int) -> None:
        """Remove an empty aggregate."""
        self._gate.run(
            'compute.delete_aggregate',
            (aggregate_id,),
            lambda db: _delete_aggregate(db, aggregate_id),
        )


def hypervisors(db: Db) -> tuple[Hypervisor, ...]:
    """Return every hypervisor, by hostname."""
    rows = db.rows(f'{_HYPERVISORS} ORDER BY h.hostname', DEFAULT_ZONE)
    return tuple(Hypervisor(**dict(row)) for row in rows)


def find_hypervisor(db: Db, name_or_id: str) -> Hypervisor | None:
    """Return the hypervisor of this hostname, or else of this id."""
    row = db.row(
        f'{_HYPERVISORS} WHERE h.hostname = ? OR h.id = ? ORDER BY h.hostname = ? DESC',
        DEFAULT_ZONE,
        name_or_id,
        name_or_id,
        name_or_id,
    )
    return None if row is None else Hypervisor(**dict(row))


def _server(row: sqlite3.Row) -> Server:
    return Server(
        id=row['id'],
        name=row['name'],
        project_id=row['project_id'],
        host=row['host'],
        hypervisor_hostname=row['hypervisor_hostname'],
        status=row['status'],
        task_state=row['task_state'],
    )


def _bury(db: Db) -> None:
    """Forget the servers whose deletion has taken long enough."""
    db.run('DELETE FROM servers WHERE gone_at <= ?', db.now)


def servers(db: Db, host: str | None) -> tuple[Server, ...]:
    """Return the servers on a service host, or all of them, by id."""
    _bury(db)
    if host is None:
        return tuple(map(_server, db.rows('SELECT * FROM servers ORDER BY id')))
    return tuple(map(_server, db.rows('SELECT * FROM servers WHERE host = ? ORDER BY id', host)))


def _find_server(db: Db, server_id: str) -> Server | None:
    _bury(db)
    row = db.row('SELECT * FROM servers WHERE id = ?', server_id)
    return None if row is None else _server(row)


def _delete_server(db: Db, server_id: str) -> None:
    db.run(
        "UPDATE servers SET task_state = 'deleting', gone_at = ? WHERE id = ? AND gone_at IS NULL",
        db.now + db.seconds('server_deletion'),
        server_id,
    )
    _bury(db)


def _create_image(db: Db, server_id: str, name: str) -> str:
    server = _find_server(db, server_id)
    if server is None:
        raise CloudNotFound(f'the twin has no server {server_id}')
    if server.task_state is not None:
        raise CloudConflict(f'server {server_id} is {server.task_state}')
    image_id = str(uuid.uuid4())
    db.run(
        "INSERT INTO images (id, name, status, server_id) VALUES (?, ?, 'active', ?)",
        image_id,
        name,
        server_id,
    )
    return image_id


def _aggregate(db: Db, row: sqlite3.Row) -> Aggregate:
    members = db.rows(
        'SELECT host FROM aggregate_hosts WHERE aggregate_id = ? ORDER BY host', row['id']
    )
    metadata = db.rows(
        'SELECT key, value FROM aggregate_metadata WHERE aggregate_id = ? ORDER BY key', row['id']
    )
    return Aggregate(
        id=row['id'],
        name=row['name'],
        availability_zone=row['availability_zone'],
        hosts=tuple(member['host'] for member in members),
        metadata={pair['key']: pair['value'] for pair in metadata},
    )


def aggregates(db: Db) -> tuple[Aggregate, ...]:
    """Return every aggregate, by id."""
    return tuple(_aggregate(db, row) for row in db.rows('SELECT * FROM aggregates ORDER BY id'))


def find_aggregate(db: Db, name: str) -> Aggregate | None:
    """Return the aggregate of this name; None if there is none."""
    row = db.row('SELECT * FROM aggregates WHERE name = ?', name)
    return None if row is None else _aggregate(db, row)


def create_aggregate(db: Db, name: str, availability_zone: str | None) -> Aggregate:
    """Make an empty aggregate.

    :raises CloudConflict: if there is one of this name
    """
    if db.row('SELECT id FROM aggregates WHERE name = ?', name):
        raise CloudConflict(f'there is an aggregate {name!r} already')
    number = db.insert(
        'INSERT INTO aggregates (name, availability_zone) VALUES (?, ?)', name, availability_zone
    )
    return Aggregate(
        id=number, name=name, availability_zone=availability_zone, hosts=(), metadata={}
    )


def _zone_of_aggregate(db: Db, aggregate_id: int) -> str | None:
    """Return the zone that an aggregate makes; CloudNotFound if there is none."""
    row = db.row('SELECT availability_zone FROM aggregates WHERE id = ?', aggregate_id)
    if row is None:
        raise CloudNotFound(f'the twin has no aggregate {aggregate_id}')
    zone: str | None = row['availability_zone']
    return zone


def _set_aggregate_metadata(db: Db, aggregate_id: int, metadata: Mapping[str, str | None]) -> None:
    if AVAILABILITY_ZONE_KEY in metadata:
        raise exceptions.Permanent('the zone of an aggregate is given when it is made')
    _zone_of_aggregate(db, aggregate_id)
    for key, value in metadata.items():
        if value is None:
            db.run(
                'DELETE FROM aggregate_metadata WHERE aggregate_id = ? AND key = ?',
                aggregate_id,
                key,
            )
        else:
            db.run(
                'INSERT OR REPLACE INTO aggregate_metadata (aggregate_id, key, value)'
                ' VALUES (?, ?, ?)',
                aggregate_id,
                key,
                value,
            )


def _other_zones(db: Db, aggregate_id: int, host: str) -> set[str]:
    """Return the zones that a host is in through other aggregates."""
    rows = db.rows(
        'SELECT a.availability_zone FROM aggregate_hosts m JOIN aggregates a'
        ' ON a.id = m.aggregate_id WHERE m.host = ? AND a.id != ?'
        ' AND a.availability_zone IS NOT NULL',
        host,
        aggregate_id,
    )
    return {row['availability_zone'] for row in rows}


def _refuse_move(db: Db, host: str, old: str, new: str) -> None:
    """Refuse, as Nova does since 2024.1, to move servers to another zone."""
    if old != new and servers(db, host):
        raise CloudConflict(f'host {host} has servers, which would change from zone {old} to {new}')


def add_host(db: Db, aggregate_id: int, host: str) -> None:
    """Put a service host into an aggregate, if Nova would."""
    zone = _zone_of_aggregate(db, aggregate_id)
    if not db.row('SELECT 1 FROM hypervisors WHERE service_host = ?', host):
        raise CloudNotFound(f'the twin has no host {host!r}')
    if db.row(
        'SELECT 1 FROM aggregate_hosts WHERE aggregate_id = ? AND host = ?', aggregate_id, host
    ):
        return
    if zone is not None:
        others = _other_zones(db, aggregate_id, host)
        if others - {zone}:
            raise CloudConflict(f'host {host} is in availability zone {", ".join(sorted(others))}')
        _refuse_move(db, host, zone if others else DEFAULT_ZONE, zone)
    db.run('INSERT INTO aggregate_hosts (aggregate_id, host) VALUES (?, ?)', aggregate_id, host)


def _remove_host(db: Db, aggregate_id: int, host: str) -> None:
    zone = _zone_of_aggregate(db, aggregate_id)
    if not db.row(
        'SELECT 1 FROM aggregate_hosts WHERE aggregate_id = ? AND host = ?', aggregate_id, host
    ):
        return
    if zone is not None and not _other_zones(db, aggregate_id, host):
        _refuse_move(db, host, zone, DEFAULT_ZONE)
    db.run('DELETE FROM aggregate_hosts WHERE aggregate_id = ? AND host = ?', aggregate_id, host)


def _delete_aggregate(db: Db, aggregate_id: int) -> None:
    if db.row('SELECT 1 FROM aggregate_hosts WHERE aggregate_id = ?', aggregate_id):
        raise CloudConflict(f'aggregate {aggregate_id} still has hosts')
    db.run('DELETE FROM aggregate_metadata WHERE aggregate_id = ?', aggregate_id)
    db.run('DELETE FROM aggregates WHERE id = ?', aggregate_id)
