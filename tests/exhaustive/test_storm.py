# SPDX-License-Identifier: Apache-2.0

"""Storms: everything around the processes fails, and users carry on.

The connections to the database and to the broker are cut, delayed, frozen and half closed,
and the replies of commits are lost; processes are killed, and stopped for longer than their
claims. Nothing may be booked twice, and nothing may remain.
"""

from __future__ import annotations

import collections
import os
import random
import signal
import threading
from collections.abc import Callable
from collections.abc import Mapping
from concurrent import futures

from tests import services
from tests.exhaustive import deployed
from tests.exhaustive import deployed_users
from tests.functional import processes

USERS = 4
_PAUSE = 2.0
# Longer than a claim.
_STOPPED = 4.0


@services.on_each_engine(deployed.InstalledCase, 'TestStorm', engines=services.DATABASE_SERVERS)
class _Storm:
    """Two managers and two API processes."""

    def setUp(self) -> None:
        super().setUp()
        self.over = threading.Event()
        self.happened: collections.Counter[str] = collections.Counter()

    def test_storm(self) -> None:
        seed = deployed.seed()
        self.managers = [self.started('climate-manager') for _ in range(2)]
        ports = [processes.free_port() for _ in range(2)]
        self.apis = [self.started('climate-api', '--port', str(port)) for port in ports]
        users = deployed_users.Users(self.installed.requests, ports, seed)
        for command in self.managers:
            processes.until('a manager works', lambda c=command: deployed.AT_WORK in c.said)
        users.send(random.Random(seed), 'POST', '/webhooks', {'url': self.installed.receiver.url})
        with futures.ThreadPoolExecutor() as pool:
            watching = pool.submit(self.installed.watch, self.over)
            raging = pool.submit(self.rage, random.Random(seed))
            try:
                users.run(USERS, deployed.seconds())
            finally:
                self.over.set()
        raging.result()
        self.calm()
        users.delete_all()
        self.check(users, watching.result())

    def rage(self, dice: random.Random) -> None:
        """Let one thing after the other fail."""
        faults = self.faults()
        while not self.over.wait(_PAUSE):
            for name in dice.sample(list(faults), len(faults)):
                faults[name](dice)
                self.happened[name] += 1
                if self.over.wait(_PAUSE):
                    return

    def faults(self) -> Mapping[str, Callable[[random.Random], None]]:
        """Return what can fail."""
        database, broker = self.installed.database, self.installed.broker

        def lose(dice: random.Random) -> None:
            database.lost_replies = dice.randint(1, 5)

        def delay(_: random.Random) -> None:
            database.delay = 0.0 if database.delay else 0.01

        return {
            'lost commits': lose,
            'delays': delay,
            'cuts': lambda _: database.cut(),
            'freezes': lambda _: database.freeze(),
            'half closes': lambda _: database.half_close(),
            'cuts of the broker': lambda _: broker.cut(),
            'freezes of the broker': lambda _: broker.freeze(),
            'kills of managers': lambda dice: self.kill(dice.choice(self.managers)),
            'kills of APIs': lambda dice: self.kill(dice.choice(self.apis)),
            'stops of managers': lambda dice: self.stop(dice.choice(self.managers)),
        }

    @staticmethod
    def kill(command: processes.Command) -> None:
        command.kill()
        command.start()

    def stop(self, command: processes.Command) -> None:
        """Stop a process for longer than its claims last."""
        assert command.process is not None
        os.kill(command.process.pid, signal.SIGSTOP)
        self.over.wait(_STOPPED)
        os.kill(command.process.pid, signal.SIGCONT)

    def calm(self) -> None:
        """End all faults that last."""
        self.installed.database.delay = 0.0
        self.installed.database.lost_replies = 0

    def check(self, users: deployed_users.Users, twice: list[str]) -> None:
        """Add everything up.

        :param twice: what was booked twice meanwhile
        """
        processes.until(
            'everything is settled', lambda: not self.installed.unsettled(), deployed_users.PATIENCE
        )
        self.assertEqual([], twice)
        self.assertEqual([], self.installed.complaints(users))
        self.assertGreater(users.reallocations, 0)
        print(self.installed.figures(users))
        print(', '.join(f'{times} {name}' for name, times in self.happened.items()))
