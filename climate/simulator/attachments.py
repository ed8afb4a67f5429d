# SPDX-License-Identifier: Apache-2.0

"""Simulated attachments of volumes to servers."""

from __future__ import annotations

from climate.cloud.base import CloudConflict
from climate.simulator.store import Db
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

# The simulated Nova and Cinder share this table. While a volume is being detached,
# gone_at is the time at which the row disappears.
SCHEMA = """
CREATE TABLE IF NOT EXISTS attachments (
    volume_id TEXT NOT NULL,
    server_id TEXT NOT NULL,
    gone_at REAL,
    PRIMARY KEY (volume_id, server_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS attachments_by_server ON attachments (server_id);
"""


def attach(db: Db, volume_id: str, server_id: str) -> None:
    """Attach a volume to a server; a no-op if it is attached already."""
    db.insert('attachments', or_else='IGNORE', volume_id=volume_id, server_id=server_id)


def settle(db: Db) -> None:
    """Complete the detachments that are due."""
    db.run('DELETE FROM attachments WHERE gone_at <= ?', db.now)


def of_server(db: Db, server_id: str) -> tuple[str, ...]:
    """Return the volumes of a server, in alphabetical order."""
    settle(db)
    rows = db.rows(
        'SELECT volume_id FROM attachments WHERE server_id = ? ORDER BY volume_id', server_id
    )
    return tuple(row['volume_id'] for row in rows)


def forget(db: Db, server_id: str) -> None:
    """Detach every volume of a deleted server."""
    db.delete('attachments', server_id=server_id)


def _detach(db: Db, server_id: str, volume_id: str) -> None:
    settle(db)
    row = db.row(
        'SELECT a.gone_at, CASE WHEN coalesce(s.next_at, s.gone_at) > ? THEN s.task_state END'
        ' AS task_state FROM attachments a LEFT JOIN servers s ON s.id = a.server_id'
        ' WHERE a.server_id = ? AND a.volume_id = ?',
        db.now,
        server_id,
        volume_id,
    )
    if row is not None and row['gone_at'] is not None:
        raise CloudConflict(f'volume {volume_id} is being detached')
    if row is not None and row['task_state'] is not None:
        raise CloudConflict(f'server {server_id} is {row["task_state"]}')
    db.run(
        'UPDATE attachments SET gone_at = ? WHERE server_id = ? AND volume_id = ?',
        db.now + db.seconds('volume_detachment'),
        server_id,
        volume_id,
    )


class SimulatedAttachments(ServiceVerbs):
    """Implements the part of :class:`climate.cloud.protocols.servers.Servers` about volumes."""

    detach_volume = verb('compute.detach_volume', _detach)
