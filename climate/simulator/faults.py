# SPDX-License-Identifier: Apache-2.0

"""Faults of the simulated cloud.

They are part of the state, so that a test, or a user in another terminal, can inject
them into the cloud of a running service.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import inspect
import typing
from collections.abc import Collection
from collections.abc import Iterator
from typing import Literal

from climate import exceptions
from climate.cloud import base
from climate.simulator.store import Db

SCHEMA = """
CREATE TABLE IF NOT EXISTS faults (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    verb TEXT NOT NULL,
    times INTEGER,
    moment TEXT NOT NULL CHECK (moment IN ('before', 'after', 'slow')),
    error TEXT,
    seconds REAL,
    skip INTEGER NOT NULL DEFAULT 0
);
"""

When = Literal['before', 'after']
Error = Literal['transient', 'permanent', 'not_found', 'conflict', 'quota']

ERRORS: dict[str, type[exceptions.EffectError]] = {
    'transient': exceptions.Transient,
    'permanent': exceptions.Permanent,
    'not_found': base.CloudNotFound,
    'conflict': base.CloudConflict,
    'quota': base.CloudQuota,
}


def _verbs() -> Iterator[str]:
    """Yield the verbs of all services, such as ``compute.add_host``."""
    for service, getter in vars(base.Cloud).items():
        if isinstance(getter, property):
            protocol = typing.get_type_hints(getter.fget)['return']
            for name, verb in inspect.getmembers(protocol, inspect.isfunction):
                if not name.startswith('_'):
                    yield f'{service}.{verb.__name__}'


VERBS = tuple(_verbs())


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class InjectedFault:
    """A failure or delay of some verbs.

    :ivar verb: a name or pattern: ``compute.add_host``, ``compute.*`` or ``*``
    :ivar times: how often it will still occur; None until it is removed
    :ivar moment: ``before`` the work, ``after`` it, or ``slow`` for a delay
    :ivar error: a key of :data:`ERRORS`; None for a delay
    :ivar seconds: the delay; None for a failure
    :ivar skip: how many calls will succeed first
    """

    id: int
    verb: str
    times: int | None
    moment: str
    error: str | None
    seconds: float | None
    skip: int = 0


def known(pattern: str, services: Collection[str] = ()) -> str:
    """Return *pattern* if a verb matches it.

    :param services: names of further services, whose verbs are not known
    :raises ValueError: if no verb does
    """
    if pattern.partition('.')[0] not in services and not fnmatch.filter(VERBS, pattern):
        raise ValueError(f'no verb matches {pattern!r}; the verbs are {", ".join(VERBS)}')
    return pattern


def present(db: Db) -> list[InjectedFault]:
    """Return all faults, oldest first."""
    rows = db.rows('SELECT id, verb, times, moment, error, seconds, skip FROM faults ORDER BY id')
    return [InjectedFault(**dict(row)) for row in rows]


def concerning(db: Db, verb: str) -> list[InjectedFault]:
    """Return the faults of a verb, oldest first."""
    return [fault for fault in present(db) if fnmatch.fnmatchcase(verb, fault.verb)]


def happening(db: Db, present_faults: list[InjectedFault]) -> InjectedFault | None:
    """Return the first fault that makes this call fail; count down skips before it."""
    for fault in present_faults:
        if fault.error and not fault.skip:
            return fault
        db.run('UPDATE faults SET skip = skip - 1 WHERE id = ? AND skip > 0', fault.id)
    return None


def use_up(db: Db, verb: str, fault: InjectedFault) -> exceptions.EffectError:
    """Count one occurrence of a fault, and return its error."""
    if fault.times is not None and fault.times > 1:
        db.run('UPDATE faults SET times = times - 1 WHERE id = ?', fault.id)
    elif fault.times is not None:
        db.delete('faults', id=fault.id)
    error = ERRORS[fault.error or 'transient']
    return error(f'{verb}: the simulated cloud failed {fault.moment} the work, as configured')
