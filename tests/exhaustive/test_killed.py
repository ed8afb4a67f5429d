# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""Processes are killed with SIGKILL at each step of a lease, and another one goes on.

A step is a transaction, or a call that changes the cloud. Nothing is lost,
nothing is made twice, and nothing of a user's is deleted that was not saved.
"""

from __future__ import annotations

import collections
import datetime
import os
import pathlib
import signal
from collections.abc import Callable
from typing import Any

import fixtures
from testtools import content

from climate.clients import rehearsal
from climate.clients.fake.gate import Gate
from climate.db.store import Store
from tests import base
from tests.functional.manager import harness
from tests.functional.manager.promised import Promised
from tests.functional.manager.walk.walker import ACTIVE
from tests.functional.manager.walk.walker import END
from tests.functional.manager.walk.walker import LONG
from tests.functional.manager.walk.world import Moment


class _Killed(Promised):
    """A lease that a process takes care of."""

    def setUp(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.cloud, self.died = str(folder / 'cloud'), folder / 'died'
        super().setUp()

    def test_killed_at_each_step_of_a_life(self) -> None:
        world = self.world
        begin = world.save()
        world.restore(begin)
        world.until(ACTIVE)
        whole = world.picture(self.lease)
        world.until(END + LONG)
        told = collections.Counter(world.bus.told(self.lease))
        step = 1
        while self.killed_at(step, begin):
            where = f'killed at step {step}'
            if world.clock.now() < harness.at(ACTIVE):
                world.until(ACTIVE)
                if world.status(self.lease) == 'ACTIVE':
                    self.assertEqual(whole, world.picture(self.lease), where)
            world.until(2 * END)
            self.assertEqual('TERMINATED', world.status(self.lease), where)
            self.assertEqual(told, collections.Counter(world.bus.told(self.lease)), where)
            self.assertEqual([], list(self.left()), where)
            step += 1
        # Transactions and calls; the undisturbed life is over after that many.
        self.addDetail('steps', content.text_content(f'killed {step - 1} times'))
        self.assertGreater(step, 10)

    def killed_at(self, step: int, begin: Moment) -> bool:
        """Have a process take care of the lease, and kill it after so many steps.

        :returns: whether it was killed; if not, it has come to the end
        """
        self.world.restore(begin)
        child = os.fork()
        if not child:
            try:
                self.live(step)
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            self.assertEqual(signal.SIGKILL, os.WTERMSIG(status))
            # Others live at the same time.
            self.world.clock.move_to(datetime.datetime.fromisoformat(self.died.read_text()))
            return True
        self.assertEqual(0, os.WEXITSTATUS(status))
        return False

    def live(self, step: int) -> None:
        """Be that process: with connections of its own, and mortal."""
        world = self.world
        # What is the parent's is not touched, not even to close it. The twin
        # knows by itself that it is in another process.
        self.inherited = (world.store, world.manager)
        world.store = Store(world.conf, world.clock)
        world.manager = world.hire()
        # What is to be told is left to the next one.
        self.patch(world.manager, 'send', lambda: None)
        steps = 0

        def mortal(work: Callable[..., Any]) -> Callable[..., Any]:
            def lives(*arguments: Any, **named: Any) -> Any:
                nonlocal steps
                done = work(*arguments, **named)
                verb = arguments[1] if isinstance(arguments[1], str) else ''
                if not verb or not rehearsal.looks(verb):
                    steps += 1
                if steps == step:
                    self.died.write_text(world.clock.now().isoformat())
                    os.kill(os.getpid(), signal.SIGKILL)
                return done

            return lives

        # Of this process only, which does not come back.
        for place in (Store, Gate):
            self.patch(place, 'run', mortal(place.run))
        world.until(END + LONG)


class TestSeveral(_Killed, base.TestCase):
    """Hosts, instances, addresses, networks and racks, all in one."""


class TestServer(_Killed, base.TestCase):
    """A server of somebody's, which is saved and deleted at the end."""

    kind = 'virtual:server'


class TestBooted(_Killed, base.TestCase):
    """A server that is booted for somebody."""

    kind = 'server booted'


class TestVolume(_Killed, base.TestCase):
    """A volume of somebody's, which is saved."""

    kind = 'volume that is saved'


class TestStack(_Killed, base.TestCase):
    """A stack that is made for somebody."""

    kind = 'made:stack'
