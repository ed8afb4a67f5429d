# SPDX-License-Identifier: Apache-2.0

"""Keeps the state of services that only one plugin calls, and runs the calls to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from climate.simulator.store import Db
from climate.simulator.verbs import StateOwner

SCHEMA = """
CREATE TABLE IF NOT EXISTS own_services (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
"""


class OwnServices(StateOwner):
    """The fakes of such services, each with attributes that are values of JSON.

    Their state is part of that of the simulated cloud, so it is saved, restored and compared
    with it, and survives a killed process. Their calls are verbs such as ``switch.turn_on``.
    """

    def add(self, name: str, fake: object) -> None:
        """Add a service with the state of *fake*, unless there is one of this name.

        :raises TypeError: if its attributes are no values of JSON
        """
        with self._transaction() as db:
            db.insert('own_services', or_else='IGNORE', name=name, state=_state(fake))

    def call(
        self, name: str, fake: object, verb: str, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        """Call a method of *fake*, with the state that the service has.

        :raises climate.exceptions.EffectError: if it raises that, or is to fail
        """
        method: Callable[..., Any] = getattr(fake, verb)

        def work(db: Db) -> Any:
            row = db.row('SELECT state FROM own_services WHERE name = ?', name)
            assert row is not None
            vars(fake).clear()
            vars(fake).update(json.loads(row['state']))
            result = method(*arguments, **named)
            db.update('own_services', name, key='name', state=_state(fake))
            return result

        given = (*arguments, *named.values())
        return self._runner.run(f'{name}.{verb}', tuple(map(repr, given)), work)


def names(db: Db) -> frozenset[str]:
    """Return the names of the services."""
    return frozenset(row['name'] for row in db.rows('SELECT name FROM own_services'))


def _state(fake: object) -> str:
    return json.dumps(vars(fake), sort_keys=True)
