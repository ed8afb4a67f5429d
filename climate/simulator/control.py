# SPDX-License-Identifier: Apache-2.0

"""Controls faults, delays, the journal and the users of the simulated cloud."""

from __future__ import annotations

import dataclasses
import datetime
import json

from climate.simulator import faults
from climate.simulator import keystone
from climate.simulator import lateness
from climate.simulator import own_services
from climate.simulator import providers
from climate.simulator.store import Db
from climate.simulator.verbs import direct
from climate.simulator.verbs import StateOwner

_TABLES = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    " AND name NOT IN ('settings', 'faults', 'calls', 'journal', 'late', 'lateness') ORDER BY name"
)
_COLUMNS = "SELECT name FROM pragma_table_info(?) WHERE name != 'generation' ORDER BY cid"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A recorded call.

    :ivar at: the time of the call (aware UTC)
    :ivar arguments: the arguments, in the order of the verb's signature
    """

    at: datetime.datetime
    verb: str
    arguments: tuple[object, ...]


def _set_seconds(db: Db, what: str, seconds: float) -> None:
    """Set the duration of an operation, such as ``server_deletion``."""
    db.set_seconds(what, seconds)


class Control(StateOwner):
    """Controls a simulated cloud."""

    show_late = direct(lateness.set_seconds)
    set_seconds = direct(_set_seconds)
    allocate = direct(providers.allocate)

    # -- faults

    @property
    def reachable(self) -> bool:
        """Whether the cloud responds; if not, every verb raises Transient."""
        with self._transaction() as db:
            return db.row('SELECT 1 FROM settings WHERE reachable') is not None

    @reachable.setter
    def reachable(self, value: bool) -> None:
        self._change('UPDATE settings SET reachable = ?', value)

    def fail(
        self,
        verb: str,
        times: int | None = 1,
        *,
        when: faults.When = 'before',
        error: faults.Error = 'transient',
        skip: int = 0,
    ) -> None:
        """Make a verb fail from now on.

        :param verb: a name or pattern: ``compute.add_host``, ``compute.*`` or ``*``
        :param times: the number of failures; None for all calls until :meth:`heal`
        :param when: ``before`` the work, or ``after`` it: then only the response is lost
        :param skip: the number of calls that succeed first
        :raises ValueError: if no verb matches or a number is too small
        """
        if (times is not None and times < 1) or skip < 0:
            raise ValueError('times must be at least 1, and skip at least 0')
        if when not in ('before', 'after') or error not in faults.ERRORS:
            raise ValueError(f'no such fault: {when} {error}')
        with self._transaction() as db:
            known = faults.known(verb, own_services.names(db))
            db.insert('faults', verb=known, times=times, moment=when, error=error, skip=skip)

    def slow(self, verb: str, seconds: float) -> None:
        """Delay each call of a verb by this long, until :meth:`heal`.

        :raises ValueError: if no verb matches
        """
        with self._transaction() as db:
            known = faults.known(verb, own_services.names(db))
            db.insert('faults', verb=known, moment='slow', seconds=seconds)

    def heal(self) -> None:
        """Remove all faults, and connect the cloud again."""
        with self._transaction() as db:
            lateness.set_seconds(db, 0)
            db.run('DELETE FROM faults')
            db.run('UPDATE settings SET reachable = 1')

    def faults(self) -> tuple[faults.InjectedFault, ...]:
        """Return the active faults, oldest first."""
        with self._transaction() as db:
            return tuple(faults.present(db))

    # -- the state as a whole

    def state(self) -> bytes:
        """Return the state of the cloud, for :meth:`restore`."""
        return self._store.dump()

    def restore(self, state: bytes) -> None:
        """Restore the cloud, its faults and its journal."""
        self._store.load(state)

    def contents(self) -> dict[str, list[tuple[object, ...]]]:
        """Return the sorted rows of all tables of the cloud, for comparisons.

        Excludes the tables that a real cloud does not have (faults, counts of calls and
        the journal), and the generations, which only count changes.
        """
        with self._transaction() as db:
            tables = [row['name'] for row in db.rows(_TABLES)]
            by_table = {}
            for table in tables:
                columns = [row['name'] for row in db.rows(_COLUMNS, table)]
                rows = db.rows(f'SELECT {", ".join(columns)} FROM {table}')  # noqa: S608  names of the schema
                by_table[table] = sorted((tuple(row) for row in rows), key=repr)
            return by_table

    # -- records of calls

    def calls(self, verb: str | None = None) -> int:
        """Return how often a verb, or any verb, was called since the state was created.

        Includes calls that failed.

        :param verb: such as ``compute.add_host``; None for all
        """
        with self._transaction() as db:
            row = db.row(
                'SELECT coalesce(sum(count), 0) AS n FROM calls WHERE ? IS NULL OR verb = ?',
                verb,
                verb,
            )
        return int(row['n']) if row else 0

    def keep_journal(self, keep: bool = True) -> None:
        """Start or stop recording calls, which is off by default."""
        self._change('UPDATE settings SET keep_journal = ?', keep)

    def journal(self) -> tuple[Call, ...]:
        """Return the recorded calls, oldest first."""
        with self._transaction() as db:
            rows = db.rows('SELECT at, verb, arguments FROM journal ORDER BY id')
        return tuple(
            Call(
                at=datetime.datetime.fromtimestamp(row['at'], datetime.UTC),
                verb=row['verb'],
                arguments=tuple(json.loads(row['arguments'])),
            )
            for row in rows
        )

    def hide_servers(self, host: str, hidden: bool = True) -> None:
        """Omit the servers of a host from lists, or include them again.

        Nova omits them, without an error, if their cell does not respond.
        """
        with self._transaction() as db:
            db.delete('hidden_hosts', host=host)
            if hidden:
                db.insert('hidden_hosts', host=host)

    def set_server(
        self,
        server_id: str,
        *,
        status: str | None = None,
        locked: bool | None = None,
        flavor: str | None = None,
    ) -> None:
        """Change the status, the lock or the flavor of a server."""
        with self._transaction() as db:
            db.run(
                'UPDATE servers SET status = coalesce(?, status), locked = coalesce(?, locked),'
                ' flavor = coalesce(?, flavor) WHERE id = ?',
                status,
                locked,
                flavor,
                server_id,
            )

    def set_image(self, image_id: str, status: str) -> None:
        """Change the status of an image, to ``error`` for example."""
        with self._transaction() as db:
            db.run('UPDATE images SET status = ?, active_at = 0 WHERE id = ?', status, image_id)

    def _change(self, sql: str, value: bool) -> None:
        with self._transaction() as db:
            db.run(sql, value)


class KeystoneControl(Control):
    """Controls the simulated Keystone; faults do not affect its methods."""

    def put_member(self, user_id: str, project_id: str, *roles: str) -> str:
        """Replace the roles of a user in a project and return a token.

        Also creates the user and the project if they are missing.
        """
        with self._transaction() as db:
            keystone.put_user(db, user_id)
            keystone.put_project(db, project_id)
            keystone.set_roles(db, user_id, project_id, roles)
        return f'{user_id}:{project_id}'

    def set_enabled(
        self, *, user_id: str | None = None, project_id: str | None = None, enabled: bool
    ) -> None:
        """Enable or disable a user, a project or both; create them if missing."""
        with self._transaction() as db:
            if user_id is not None:
                keystone.put_user(db, user_id, enabled=enabled)
            if project_id is not None:
                keystone.put_project(db, project_id, enabled=enabled)

    def set_email(self, user_id: str, email: str) -> None:
        """Set the email address of a user, created if missing; '' removes it."""
        with self._transaction() as db:
            keystone.put_user(db, user_id)
            keystone.put_email(db, user_id, email)

    def remove_user(self, user_id: str) -> None:
        """Delete a user, with the trusts that the user created."""
        self._remove('DELETE FROM users WHERE id = ?', user_id)

    def remove_project(self, project_id: str) -> None:
        """Delete a project, with its trusts."""
        self._remove('DELETE FROM projects WHERE id = ?', project_id)

    def _remove(self, sql: str, key: str) -> None:
        with self._transaction() as db:
            db.run(sql, key)
