# SPDX-License-Identifier: Apache-2.0

"""Processes of the commit before and of this one, on one database that this one has upgraded.

``CLIMATE_UPGRADE_BASE`` names another commit to upgrade from.
"""

from __future__ import annotations

import os
import pathlib
import random
import subprocess
import threading
from concurrent import futures

import fixtures

from tests import base
from tests import commands
from tests import services
from tests.exhaustive import deployed
from tests.exhaustive import deployed_users
from tests.functional import processes

ROOT = pathlib.Path(__file__).parents[2]
USERS = 3


def commit_before() -> str:
    """Return the commit to upgrade from: that of origin, or the parent of this one."""
    named = os.environ.get('CLIMATE_UPGRADE_BASE')
    for name in (named,) if named else ('origin/HEAD', 'HEAD~1'):
        found = commands.captured(
            ['git', 'rev-parse', '--verify', '--quiet', f'{name}^{{commit}}'], cwd=ROOT
        )
        if not found.returncode:
            return found.stdout.strip()
    services.missing('there is no commit to upgrade from: set CLIMATE_UPGRADE_BASE')


class Tree(fixtures.Fixture):
    """The files of a commit, in a worktree of git.

    :ivar path: the folder
    """

    def __init__(self, commit: str) -> None:
        super().__init__()
        self._commit = commit

    def _setUp(self) -> None:
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'tree'
        self.addCleanup(self._git, 'worktree', 'remove', '--force', str(self.path))
        self._git('worktree', 'add', '--detach', str(self.path), self._commit)

    @staticmethod
    def _git(*words: str) -> None:
        subprocess.run(['git', *words], cwd=ROOT, capture_output=True, check=True)


@services.on_each_engine(base.TestCase, 'TestRolling', engines=services.DATABASE_SERVERS)
class _Rolling:
    """A manager and an API of each commit."""

    def setUp(self) -> None:
        super().setUp()
        services.require(self.kind)
        services.require(services.RABBITMQ)
        self.old = self.useFixture(Tree(commit_before())).path
        self.installed = self.useFixture(deployed.Installation(self.kind))

    def started(self, code: pathlib.Path, *words: str) -> processes.Command:
        words = (words[0], '--config-file', str(self.installed.file), *words[1:])
        return self.useFixture(processes.Command(*words, folder=self.installed.folder, code=code))

    def upgraded(self, before: processes.Command, *words: str) -> processes.Command:
        """Stop a process of the commit before, and start one of this."""
        before.terminate(60)
        return self.started(ROOT, *words)

    def working(self, *managers: processes.Command) -> None:
        for one in managers:
            processes.until(
                'a manager works', lambda one=one: deployed.AT_WORK in one.said or not one.running
            )
            self.assertTrue(one.running, one.said)

    def upgrade(self, *, managers_first: bool) -> None:
        seed = deployed.seed()
        ports = [processes.free_port() for _ in range(2)]
        apis = [('climate-api', '--port', str(port)) for port in ports]
        manager = self.started(self.old, 'climate-manager')
        api = self.started(self.old, *apis[0])
        self.working(manager)
        users = deployed_users.Users(self.installed.requests, ports[:1], seed)
        over = threading.Event()
        pool = futures.ThreadPoolExecutor()
        self.addCleanup(pool.shutdown)
        self.addCleanup(over.set)
        watching = pool.submit(self.installed.watch, over)
        users.send(random.Random(seed), 'POST', '/webhooks', {'url': self.installed.receiver.url})
        part = deployed.seconds() / 4
        users.run(USERS, part)
        # One of each, of both commits.
        first = self.started(ROOT, *(('climate-manager',) if managers_first else apis[1]))
        if managers_first:
            self.working(first)
        else:
            users.ports = ports
        users.run(USERS, part)
        second = self.started(ROOT, *(apis[1] if managers_first else ('climate-manager',)))
        if not managers_first:
            self.working(second)
        users.ports = ports
        users.run(USERS, part)
        if managers_first:
            manager = self.upgraded(manager, 'climate-manager')
            api = self.upgraded(api, *apis[0])
        else:
            api = self.upgraded(api, *apis[0])
            manager = self.upgraded(manager, 'climate-manager')
        self.working(manager)
        users.run(USERS, part)
        over.set()
        twice = watching.result()
        users.delete_all()
        processes.until(
            'everything is settled', lambda: not self.installed.unsettled(), deployed_users.PATIENCE
        )
        self.assertEqual([], twice)
        self.assertEqual([], self.installed.complaints(users))
        print(self.installed.figures(users))

    def test_managers_first(self) -> None:
        self.upgrade(managers_first=True)

    def test_apis_first(self) -> None:
        self.upgrade(managers_first=False)
