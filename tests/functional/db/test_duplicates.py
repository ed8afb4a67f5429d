# SPDX-License-Identifier: Apache-2.0

"""Two who write the same at once: the second one finds what the first one wrote."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from unittest import mock

import sqlalchemy as sa

from climate import exceptions
from climate.db.schema.tables import RESOURCES
from climate.db.transactions.store import Transaction
from climate.domain.budgets import UNLIMITED
from climate.domain.resource_types import Declaration
from climate.domain.resources import Resource
from climate.plugins.host import errors
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.host.pools import HostSettings
from climate.resources import registrar
from climate.resources.types import ResourceTypes
from climate.simulator import SimulatedCloud
from tests import drafts
from tests import services
from tests.functional.db import cases
from tests.waiting import until

LONG = 30.0


class _Duplicates:
    """The same on each engine that has several writers at a time."""

    def second(self, first: Callable[[Transaction], Any], work: Callable[[], Any]) -> Any:
        """Do *work* while *first* is written, but not committed yet.

        What *work* looks at is not there; :attr:`looked` is set when it knows.

        :returns: what it returns, or the error that it raises
        """
        outcome: list[Any] = []

        def run() -> None:
            try:
                outcome.append(work())
            except Exception as error:
                outcome.append(error)
            finally:
                self.looked.set()

        self.looked = threading.Event()
        thread = threading.Thread(target=run)
        with self.store._writing(UNLIMITED, undone=False) as tx:
            first(tx)
            thread.start()
            self.assertTrue(self.looked.wait(LONG))
        thread.join(LONG)
        self.assertFalse(thread.is_alive())
        return outcome[0]

    def looking(self, target: Any, name: str, *, waits: bool = False) -> Any:
        """Have :attr:`looked` set when *target* was asked.

        :param waits: whether there is no answer before the first one has committed
        """
        asked = getattr(target, name)

        def ask(*args: Any, **options: Any) -> Any:
            if waits:
                self.looked.set()
            try:
                return asked(*args, **options)
            finally:
                self.looked.set()

        return mock.patch.object(target, name, ask)

    def test_hosts(self) -> None:
        cloud = self.closing(SimulatedCloud(':memory:', clock=self.clock))
        cloud.seed(1)
        desk = registrar.Registrar(
            self.store, {'physical:host': PhysicalHost(HostSettings())}, cloud
        )
        host = Resource(resource_type='physical:host', name='compute-1')
        with self.looking(registrar, 'refuse_known'):
            error = self.second(
                lambda tx: tx.resources.insert(host),
                lambda: desk.register_resource(drafts.host('compute-1')),
            )
        self.assertIsInstance(error, errors.HostExists)
        # The one that is there is left as it is.
        self.assertEqual(409, error.code)
        with self.store.reading() as tx:
            found = list(tx.resources.names_of_type(host.resource_type).values())
            self.assertEqual(['compute-1'], found)

    def test_resource_types(self) -> None:
        declaration = Declaration(name='custom:licence')
        types = ResourceTypes(self.store, {})
        waits = self.kind == services.MARIADB
        with self.looking(type(self.transaction().resource_types), 'find', waits=waits):
            error = self.second(
                lambda tx: tx.resource_types.insert(declaration), lambda: types.create(declaration)
            )
        self.assertIsInstance(error, exceptions.ResourceTypeExists)

    def test_names_of_properties(self) -> None:
        def register(tx: Transaction) -> None:
            tx.properties.register('physical:host', ['gpu', 'rack'])

        def late(tx: Transaction) -> set[str]:
            self.looked.set()
            register(tx)
            return tx.properties.private_names('physical:host')

        self.assertEqual(set(), self.second(register, lambda: self.store.run(late)))

    def test_things_and_chores(self) -> None:
        def write(tx: Transaction) -> None:
            tx.things.ensure('virtual:server', 'web', 'blue')
            tx.chores.heard_of('sweep')

        def late(tx: Transaction) -> str:
            self.looked.set()
            write(tx)
            return 'written'

        self.assertEqual('written', self.second(write, lambda: self.store.run(late)))
        with self.store.reading() as tx:
            self.assertEqual(1, len(tx.resources.names_of_type('virtual:server')))

    def transaction(self) -> Transaction:
        with self.store.reading() as tx:
            return tx


class TestMariadb(_Duplicates, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB

    def test_a_deadlock_with_a_thing_starts_the_transaction_over(self) -> None:
        (host,) = self.add_hosts(1)
        touch = sa.update(RESOURCES).where(RESOURCES.c.id == host).values(generation=9)
        waiting = sa.text(
            "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
        )
        other = self.closing(self.store.engine.connect())
        others: list[threading.Thread] = []
        tries: list[None] = []

        def close_the_circle() -> None:
            with self.store.engine.connect() as observer:
                until(lambda: observer.scalar(waiting), LONG, 'a transaction waits')
            other.execute(touch)
            other.rollback()

        def work(tx: Transaction) -> None:
            tries.append(None)
            if not others:
                tx.session.execute(touch)
                others.append(threading.Thread(target=close_the_circle))
                others[0].start()
            tx.things.ensure('virtual:server', 'web', 'blue')

        # MariaDB ends the transaction that has written less: not this one.
        for name in ('web', *map(str, range(20))):
            facts = {'resource_type': 'virtual:server', 'project_id': 'blue', 'generation': 0}
            flags = {'deleted': 0, 'reservable': True, 'disabled': False}
            row = {**facts, **flags, 'name': name, 'created_at': cases.NOW}
            other.execute(sa.insert(RESOURCES).values(row))
        self.store.run(work)
        others[0].join(LONG)
        self.assertEqual(2, len(tries))
        with self.store.reading() as tx:
            self.assertEqual(1, len(tx.resources.names_of_type('virtual:server')))


class TestPostgresql(_Duplicates, cases.StoreCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
