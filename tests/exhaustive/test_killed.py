# SPDX-License-Identifier: Apache-2.0

"""Processes are killed with SIGKILL at each step of a lease, and another one goes on.

A step is a transaction, or a call that changes the cloud. Nothing is lost,
nothing is made twice, and nothing of a user's is deleted that was not saved.
"""

from __future__ import annotations

import pathlib

import fixtures
from testtools import content

from climate.testing.killed import Killed
from tests import base
from tests.functional.manager.promised import Promised


class _Killed(Promised):
    """A lease that a process takes care of."""

    def setUp(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.cloud_dir, self.died = str(folder / 'cloud'), folder / 'died'
        super().setUp()

    def test_killed_at_each_step_of_a_life(self) -> None:
        killed = Killed(self.site, self.promised, self.died)
        self.assertEqual([], list(killed.complaints()))
        # Transactions and calls; the undisturbed life is over after that many.
        self.addDetail('steps', content.text_content(f'killed {killed.steps} times'))
        self.assertGreater(killed.steps, 10)


class TestSeveral(_Killed, base.TestCase):
    """Hosts, instances, addresses, networks and racks, all in one."""


class TestServer(_Killed, base.TestCase):
    """A server of a user, which is saved and deleted at the end."""

    kind = 'virtual:server'


class TestBooted(_Killed, base.TestCase):
    """A server that is booted for a user."""

    kind = 'server booted'


class TestVolume(_Killed, base.TestCase):
    """A volume of a user, which is saved."""

    kind = 'volume that is saved'


class TestStack(_Killed, base.TestCase):
    """A stack that is made for a user."""

    kind = 'made:stack'
