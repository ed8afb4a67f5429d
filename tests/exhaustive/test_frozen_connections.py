# SPDX-License-Identifier: Apache-2.0

"""Connections to the database that freeze: nothing waits for the other end.

The proxy passes nothing on any more, but closes nothing: the machine at the other end has
lost its power. Without limits, every wait of these tests would last for hours.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.db.engine import session_limits
from climate.db.transactions.store import Store
from tests import services
from tests.functional import http
from tests.functional import test_outages
from tests.functional.db import cases
from tests.functional.manager.harness import Bus
from tests.functional.messaging.proxy import Proxy
from tests.functional.processes import until

IDLE = 2
RESPONSE = 1


@services.on_each_engine(cases.StoreCase, 'TestFrozen', engines=services.DATABASE_SERVERS)
class _Frozen:
    """A store behind a proxy, and one that is not."""

    def setUp(self) -> None:
        super().setUp()
        self.proxy, url = _proxied(self, self.url, self.kind)
        self.through = self.connect(url, RESPONSE)
        self.direct = self.connect(self.url, 0)
        self.host = self.add_hosts(1)[0]

    def connect(self, url: str, response: int) -> Store:
        conf = cases.configuration(url)
        conf.set_override('idle_transaction_timeout', IDLE, group='database')
        conf.set_override('response_timeout', response, group='database')
        return self.closing(Store(conf, self.clock))

    def raise_generation(self, store: Store) -> None:
        store.run(
            lambda tx: tx.session.execute(
                sa.text('UPDATE resources SET generation = generation + 1')
            )
        )

    def test_others_get_the_locks_of_a_client_that_vanished(self) -> None:
        vanishes = threading.Event()
        gone = threading.Event()

        def work(tx: Any) -> None:
            tx.session.execute(sa.text('SELECT id FROM resources FOR UPDATE')).all()
            vanishes.set()
            gone.wait()

        def vanish() -> None:
            with contextlib.suppress(exceptions.DatabaseUnavailable):
                self.through.run(work)

        client = threading.Thread(target=vanish, daemon=True)
        client.start()
        vanishes.wait()
        self.proxy.freeze()
        # Without a limit, MariaDB would refuse to wait, and PostgreSQL would wait for ever.
        self.raise_generation(self.direct)
        gone.set()
        client.join()

    def test_a_frozen_idle_connection_is_replaced(self) -> None:
        self.through.ping()
        self.proxy.freeze()
        self.clock.advance(60)
        self.through.ping()
        self.assertEqual(1, self.proxy.frozen)

    def test_a_frozen_statement_ends(self) -> None:
        self.through.ping()
        self.proxy.freeze()
        # It is repeated on a new connection.
        self.raise_generation(self.through)
        self.assertEqual(1, self.proxy.frozen)

    def test_a_statement_that_takes_long_does_not_end(self) -> None:
        seconds = 3 * RESPONSE
        sleep = 'pg_sleep' if self.kind == services.POSTGRESQL else 'sleep'
        with self.through.reading() as tx:
            tx.session.execute(sa.text(f'SELECT {sleep}({seconds})')).all()
            self.assertEqual(1, tx.session.scalar(sa.text('SELECT 1')))

    def test_large_results_are_read(self) -> None:
        with self.through.reading() as tx:
            text = tx.session.scalar(sa.text("SELECT repeat('ab', 2000000)"))
        self.assertEqual(4000000, len(text))

    def test_the_limits_have_taken_effect(self) -> None:
        with self.through.engine.connect() as connection:
            self.assertEqual([], list(session_limits.unset(connection, IDLE)))
            self.assertIn('idle', ' '.join(session_limits.unset(connection, IDLE + 1)))


def _proxied(case: Any, url: str, kind: str) -> tuple[Proxy, str]:
    server = sa.make_url(url)
    port = server.port or (3306 if kind == services.MARIADB else 5432)
    proxy = case.useFixture(Proxy(server.host or '127.0.0.1', port))
    proxy.open()
    through = server.set(host='127.0.0.1', port=proxy.port)
    return proxy, through.render_as_string(hide_password=False)


@services.on_each_engine(
    test_outages.OutageCase, 'TestManagerOnFrozen', engines=services.DATABASE_SERVERS
)
class _ManagerOnFrozenConnections:
    """A manager and an API whose connections all freeze at once, while new ones work."""

    def test_leases_start_on_new_connections(self) -> None:
        url = self.useFixture(services.Database(self.kind)).url
        proxy, through = _proxied(self, url, self.kind)
        conf = self.configured(through)
        conf.set_override('response_timeout', RESPONSE, group='database')
        conf.set_override('idle_transaction_timeout', IDLE, group='database')
        self.compose(conf, Bus())
        coming = self.create(1, 600)
        proxy.freeze()
        until('a lease is booked', lambda: self.post(0, 600).status_code == 201)
        until('the lease has started', lambda: self.status(coming) == 'ACTIVE')
        self.assertEqual(204, http.send(self.app, 'DELETE', f'/v1/leases/{coming}').status_code)
        self.assertGreater(proxy.frozen, 0)
