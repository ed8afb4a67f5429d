# SPDX-License-Identifier: Apache-2.0

"""Runs the verbs of the simulated cloud, with their faults and counts."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from climate import exceptions
from climate.clock import Clock
from climate.simulator import faults
from climate.simulator import lateness
from climate.simulator.store import Db
from climate.simulator.store import SimulatorStore
from climate.simulator.store import VerbCaller

SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (verb TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    verb TEXT NOT NULL,
    arguments TEXT NOT NULL
);
"""

T = TypeVar('T')


class VerbRunner:
    """Runs each verb as one transaction, with its faults, and counts it.

    :param identify: returns the user who calls the verbs, or raises the error of every
        verb if the user may not call any; None for the service user
    """

    def __init__(
        self,
        store: SimulatorStore,
        clock: Clock,
        identify: Callable[[Db], VerbCaller] | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self._identify = identify

    def now(self) -> float:
        """Return the present instant in seconds since the epoch."""
        return self.clock.now().timestamp()

    def run(self, verb: str, arguments: tuple[object, ...], work: Callable[[Db], T]) -> T:
        """Do *work* as the verb with this name, subject to its faults.

        If *work* raises an error, it must do so before it changes anything: the
        transaction is committed even then, so that the call is counted.
        """
        slept = False
        while True:
            with self.store.transaction(self.now()) as db:
                concerned = faults.concerning(db, verb)
                seconds = sum(fault.seconds or 0.0 for fault in concerned)
                if slept or not seconds:
                    _count(db, verb, arguments)
                    outcome = lateness.before(db, verb, arguments)
                    if not lateness.is_result(outcome):
                        outcome = self._attempt(db, verb, arguments, concerned, work)
                    break
            # Outside the transaction, so that a slow verb does not block others.
            time.sleep(seconds)
            slept = True
        if isinstance(outcome, exceptions.EffectError):
            raise outcome
        return outcome

    def _attempt(
        self,
        db: Db,
        verb: str,
        arguments: tuple[object, ...],
        concerned: list[faults.InjectedFault],
        work: Callable[[Db], T],
    ) -> T | exceptions.EffectError:
        if not _settings(db)['reachable']:
            return exceptions.Transient(
                f'{verb}: the simulated cloud cannot be reached, as configured'
            )
        failure = faults.happening(db, concerned)
        error = faults.use_up(db, verb, failure) if failure else None
        if error and failure and failure.moment == 'before':
            return error
        try:
            if self._identify is not None:
                db.caller = self._identify(db)
            result: T = lateness.after(db, verb, arguments, work(db))
        except exceptions.EffectError as refusal:
            return error or refusal
        return error or result

    def for_user(self, identify: Callable[[Db], VerbCaller] | None) -> VerbRunner:
        """Return a runner for another user; None for the service user."""
        return VerbRunner(self.store, self.clock, identify)


def _settings(db: Db) -> sqlite3.Row:
    row = db.row('SELECT reachable, keep_journal FROM settings')
    assert row is not None
    return row


def _count(db: Db, verb: str, arguments: tuple[object, ...]) -> None:
    db.run(
        'INSERT INTO calls (verb, count) VALUES (?, 1)'
        ' ON CONFLICT (verb) DO UPDATE SET count = count + 1',
        verb,
    )
    if _settings(db)['keep_journal']:
        db.insert('journal', at=db.now, verb=verb, arguments=json.dumps(arguments))
