# SPDX-License-Identifier: Apache-2.0

"""Keeps notices in a SQLite file until they are sent.

A notice is ``pending`` until it is sent. Then it is ``done``, and remembered for
a while, so that it is not sent twice. If it is abandoned, it is ``failed``, for
the operator. Each change is one statement, so a process that is killed leaves
the state before it or after it.

The file belongs to one ``climate-mail``, whose host may have no access to the
database of Climate.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import fcntl
import hashlib
import json
import logging
import os
import pathlib
import sqlite3
import threading
from collections.abc import Iterable
from typing import Any
from typing import Final

from climate import exceptions
from climate.mail.notices import Notice

LOG = logging.getLogger(__name__)

FILE: Final = 'spool.sqlite3'
PENDING: Final = 'pending'
DONE: Final = 'done'
FAILED: Final = 'failed'
KEPT: Final = datetime.timedelta(days=7)
"""How long sent notices are remembered."""

_LOCK: Final = 'lock'
# Times are in UTC, so their texts sort as they do.
_SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS notices (
        id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        entry TEXT,
        next_try TEXT NOT NULL DEFAULT '1970-01-01T00:00:00+00:00',
        sent_at TEXT,
        recipient TEXT,
        message_id TEXT
    );
    CREATE INDEX IF NOT EXISTS notices_by_state ON notices (state, sent_at);
"""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A notice and its state.

    :ivar received_at: when it was received (aware UTC)
    :ivar next_try: the earliest time of the next attempt (aware UTC)
    :ivar attempts: the number of failed attempts
    :ivar error: why the last attempt failed
    """

    notice: Notice
    received_at: datetime.datetime
    next_try: datetime.datetime
    attempts: int = 0
    error: str = ''

    def dump(self) -> str:
        """Return it as JSON."""
        return json.dumps(dataclasses.asdict(self), default=datetime.datetime.isoformat)

    @classmethod
    def load(cls, text: str) -> Entry:
        """Return what :meth:`dump` wrote.

        :raises KeyError: if something is missing; TypeError and ValueError likewise
        """
        values = json.loads(text)
        return cls(
            notice=Notice.load(values['notice']),
            received_at=datetime.datetime.fromisoformat(values['received_at']),
            next_try=datetime.datetime.fromisoformat(values['next_try']),
            attempts=int(values['attempts']),
            error=str(values['error']),
        )


class Spool:
    """The notices of one ``climate-mail``.

    :param folder: created if it does not exist
    :raises climate.exceptions.ConfigurationError: if it is not usable, or
        another process uses it
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        path = pathlib.Path(folder)
        self._using = threading.Lock()
        try:
            with contextlib.ExitStack() as opened:
                # The notices name users and their leases.
                path.mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = opened.enter_context((path / _LOCK).open('w'))
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._connection = opened.enter_context(contextlib.closing(_opened(path / FILE)))
                self._opened = opened.pop_all()
        except BlockingIOError as error:
            raise exceptions.ConfigurationError(
                f'[mail] spool_dir: {path} is in use by another climate-mail'
            ) from error
        except (OSError, sqlite3.Error) as error:
            raise exceptions.ConfigurationError(f'[mail] spool_dir: {path}: {error}') from error

    def close(self) -> None:
        """Release the spool for other processes."""
        with self._using:
            self._opened.close()

    def add(self, notice: Notice, now: datetime.datetime) -> bool:
        """Keep a notice; return whether it is new.

        :raises OSError: if it cannot be written
        """
        entry = Entry(notice=notice, received_at=now, next_try=now)
        sql = 'INSERT OR IGNORE INTO notices (id, state, entry, next_try) VALUES (?, ?, ?, ?)'
        _, added = self._run(sql, _id(notice), PENDING, entry.dump(), now.isoformat())
        return bool(added)

    def put(self, entry: Entry, state: str = PENDING) -> None:
        """Store the state of a notice that was not sent.

        :param state: :data:`FAILED` sets it aside for the operator
        :raises OSError: if it cannot be written
        """
        sql = 'UPDATE notices SET state = ?, entry = ?, next_try = ? WHERE id = ?'
        self._run(sql, state, entry.dump(), entry.next_try.isoformat(), _id(entry.notice))

    def next_try(self) -> datetime.datetime | None:
        """Return when the next notice is due; None if none is to be sent.

        :raises OSError: if the file cannot be used
        """
        ((first,),), _ = self._run('SELECT min(next_try) FROM notices WHERE state = ?', PENDING)
        return first and datetime.datetime.fromisoformat(first)

    def pending(self, due: datetime.datetime | None = None) -> list[Entry]:
        """Return the notices to send, oldest first; set aside what cannot be read.

        :param due: leaves out those that are due later; None returns all
        :raises OSError: if the file cannot be used
        """
        rows, _ = self._run(
            'SELECT id, entry FROM notices WHERE state = ? AND next_try <= coalesce(?, next_try)',
            *(PENDING, due.isoformat() if due else None),
        )
        entries = []
        for key, text in rows:
            try:
                entries.append(Entry.load(text))
            except (KeyError, TypeError, ValueError) as error:
                LOG.error('Notice %s cannot be read and is set aside: %r', key, error)
                self._run('UPDATE notices SET state = ? WHERE id = ?', FAILED, key)
        return sorted(entries, key=lambda entry: (entry.received_at, entry.notice.id))

    def done(
        self, notices: Iterable[Notice], recipient: str, message_id: str, now: datetime.datetime
    ) -> None:
        """Note that notices were sent in one mail.

        :raises OSError: if that cannot be written
        """
        self._run(
            'UPDATE notices SET state = ?, entry = NULL, sent_at = ?, recipient = ?,'
            ' message_id = ? WHERE id IN (SELECT value FROM json_each(?))',
            *(DONE, now.isoformat(), recipient, message_id),
            json.dumps([_id(notice) for notice in notices]),
        )

    def sent_since(
        self, instant: datetime.datetime, recipient: str | None
    ) -> list[datetime.datetime]:
        """Return when mails were sent after *instant*, oldest first.

        :param recipient: counts only mails to this address; None counts all
        :raises OSError: if the file cannot be used
        """
        rows, _ = self._run(
            # A digest holds many notices.
            'SELECT min(sent_at) FROM notices WHERE state = ? AND sent_at > ?'
            ' AND recipient = coalesce(?, recipient) GROUP BY message_id ORDER BY 1',
            *(DONE, instant.isoformat(), recipient),
        )
        return [datetime.datetime.fromisoformat(sent_at) for (sent_at,) in rows]

    def forget(self, now: datetime.datetime) -> None:
        """Remove the records of mails sent long ago.

        :raises OSError: if that cannot be written
        """
        oldest = (now - KEPT).isoformat()
        self._run('DELETE FROM notices WHERE state = ? AND sent_at < ?', DONE, oldest)

    def _run(self, sql: str, *values: str | None) -> tuple[list[tuple[Any, ...]], int]:
        """Return the rows that a statement finds, and how many it changes."""
        try:
            with self._using:
                cursor = self._connection.execute(sql, values)
                return cursor.fetchall(), cursor.rowcount
        except sqlite3.Error as error:
            raise OSError(str(error)) from error


def _opened(file: pathlib.Path) -> sqlite3.Connection:
    """Return a connection that commits each statement."""
    file.touch(mode=0o600)
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    # A commit then survives even if the machine loses power right after it.
    connection.execute('PRAGMA synchronous = EXTRA')
    connection.executescript(_SCHEMA)
    return connection


def _id(notice: Notice) -> str:
    return hashlib.sha256(notice.key.encode('utf-8', 'surrogatepass')).hexdigest()[:40]
