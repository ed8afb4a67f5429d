# SPDX-License-Identifier: Apache-2.0

"""The rules of a service while an operator changes the policy file."""

from __future__ import annotations

import os
import sys
import threading

from oslo_policy import opts

from climate.policies import enforcer
from tests import settings
from tests.base import FolderCase

ROUNDS = 60
# Switches between threads as often as possible.
INTERVAL = 1e-6


class EnforcerTest(FolderCase):
    def setUp(self) -> None:
        super().setUp()
        self.file = self.folder / 'policy.yaml'
        self.file.write_text('{}')
        conf = settings.configured()
        opts.set_defaults(conf)
        conf.set_override('policy_file', str(self.file), group='oslo_policy')
        self.enforcer = enforcer.make_enforcer(conf)
        self.changed = 0

    def allows(self, rule: str) -> bool:
        return enforcer.allows(
            self.enforcer, rule, user_id='u', project_id='p', roles=['member', 'reader']
        )

    def change(self, text: str) -> None:
        """Replace the file by one with another time of change."""
        self.changed += 1
        other = self.folder / 'other'
        other.write_text(text)
        stamp = 2_000_000_000 + self.changed
        os.utime(other, (stamp, stamp))
        other.replace(self.file)

    def test_changes_are_seen(self) -> None:
        self.assertTrue(self.allows('climate:leases:list'))
        self.change('climate:leases:list: "role:admin"')
        self.assertFalse(self.allows('climate:leases:list'))
        self.assertIn('climate:leases:list', self.enforcer.file_rules)
        self.change('{}')
        self.assertTrue(self.allows('climate:leases:list'))

    def test_nothing_is_refused_while_a_thread_loads(self) -> None:
        refused, stopped = [], threading.Event()

        def ask() -> None:
            while not stopped.is_set():
                if not self.allows('climate:leases:list'):
                    refused.append(1)

        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(INTERVAL)
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(ROUNDS):
            self.change(f'climate:leases:create: "role:member or role:r{number}"')
            self.allows('climate:leases:list')
        stopped.set()
        for thread in threads:
            thread.join()
        self.assertEqual([], refused)
