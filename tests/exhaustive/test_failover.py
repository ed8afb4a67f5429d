# SPDX-License-Identifier: Apache-2.0

"""A second database server takes over: the API and a manager go on with it.

Each test prints how long that takes. The aim is ten seconds on an idle machine.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from climate.db.transactions.store import Store
from tests import failovers
from tests import waiting
from tests.functional import test_outages
from tests.functional.manager.harness import Bus

_LIMIT = 120


class _Failover:
    """What runs and what waits survives the end of the primary."""

    make: type[failovers.Pair]

    def setUp(self) -> None:
        super().setUp()  # type: ignore[misc]  # heirs are test cases
        self.pair: Any = self.useFixture(self.make())
        self.compose(self.configured(self.pair.url), Bus())

    def wait(self, what: str, done: Any) -> float:
        """Wait until something is done; return when, on the monotonic clock."""
        waiting.until(done, _LIMIT, what)
        return time.monotonic()

    def fail_over(self, end: Any, how: str) -> None:
        """Fail over; check that requests and leases go on."""
        running, coming = self.create(0, 600), self.create(3, 600)
        self.wait('it is active', lambda: self.status(running) == 'ACTIVE')
        # Connections that the pool keeps to the first server.
        self.assertEqual('PENDING', self.status(coming))
        self.pair.wait_for_replica()
        end()
        answer = self.post(3600, 3700)
        self.assertEqual(503, answer.status_code, answer.text)
        self.assertIn('Retry-After', answer.headers)
        health = self.parts.store
        self.assertFalse(self.passes(health))
        since = self.pair.promote()
        writes = self.wait('the API writes', lambda: self.post(3600, 3700).status_code == 201)
        starts = self.wait('the manager starts', lambda: self.status(coming) == 'ACTIVE')
        self.assertTrue(self.passes(health))
        self.assertEqual('ACTIVE', self.status(running))
        print(
            f'{self.make.__name__}, {how}: writes go on {writes - since:.1f} s,'
            f' managers {starts - since:.1f} s after the new primary',
            file=sys.stderr,
        )

    def passes(self, store: Store) -> bool:
        try:
            store.ping()
        except Exception:
            return False
        return True

    def test_the_primary_becomes_read_only(self) -> None:
        self.fail_over(self.pair.demote, 'read-only')

    def test_the_primary_is_lost(self) -> None:
        self.fail_over(lambda: self.pair.kill(0), 'lost')


class TestOnMariadb(_Failover, test_outages.OutageCase):
    """Both addresses in the URL."""

    make = failovers.MariadbPair


class TestOnPostgresql(_Failover, test_outages.OutageCase):
    """Both addresses in the URL, and target_session_attrs."""

    make = failovers.PostgresqlPair
