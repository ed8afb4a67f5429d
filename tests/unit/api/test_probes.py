# SPDX-License-Identifier: Apache-2.0

"""What a process depends on is looked at seldom, and by one at a time."""

from __future__ import annotations

import threading

from climate.api.middleware.health import PATIENCE
from climate.api.middleware.health import Probes
from climate.api.middleware.health import SECONDS
from tests import base


class ProbesTest(base.TestCase):
    """A check that counts how often it is made."""

    def setUp(self) -> None:
        super().setUp()
        self.now = 100.0
        self.made = 0
        self.broken = False
        self.probes = Probes({'broker': self.check, 'other': lambda: None}, lambda: self.now)

    def check(self) -> None:
        """Look."""
        self.made += 1
        if self.broken:
            raise OSError('amqp://user:secret@host')

    def test_a_result_serves_for_a_second(self) -> None:
        self.assertEqual([True] * 24, [self.probes.passes('broker') for _ in range(24)])
        self.assertEqual(1, self.made)
        self.broken = True
        self.now += SECONDS * 0.9
        self.assertTrue(self.probes.passes('broker'))
        self.now += SECONDS * 0.1
        self.assertEqual([False] * 24, [self.probes.passes('broker') for _ in range(24)])
        self.assertEqual(2, self.made)

    def test_checks_do_not_share_results(self) -> None:
        self.broken = True
        self.assertFalse(self.probes.passes('broker'))
        self.assertTrue(self.probes.passes('other'))

    def test_never_two_at_a_time(self) -> None:
        looking, go_on = threading.Event(), threading.Event()

        def slow() -> None:
            self.check()
            looking.set()
            self.assertTrue(go_on.wait(30))

        go_on.set()
        probes = Probes({'broker': slow, 'other': lambda: None}, lambda: self.now)
        self.assertTrue(probes.passes('broker'))
        # Long ago, as with who asks seldom.
        self.now += PATIENCE * 2
        looking.clear()
        go_on.clear()
        first = threading.Thread(target=probes.passes, args=('broker',))
        first.start()
        self.assertTrue(looking.wait(30))
        # The others get the earlier result, and do not wait.
        self.assertEqual([True] * 8, [probes.passes('broker') for _ in range(8)])
        self.assertEqual(2, self.made)
        self.assertTrue(probes.passes('other'))
        # It hangs, which is not well, and that of the others is known.
        self.now += PATIENCE
        self.assertEqual([False] * 8, [probes.passes('broker') for _ in range(8)])
        self.assertTrue(probes.passes('other'))
        self.assertEqual(2, self.made)
        go_on.set()
        first.join(30)
        self.assertTrue(probes.passes('broker'))
        self.assertEqual(2, self.made)

    def test_who_knows_nothing_waits_and_looks_not_again(self) -> None:
        looking, go_on = threading.Event(), threading.Event()

        def slow() -> None:
            self.check()
            looking.set()
            self.assertTrue(go_on.wait(30))

        probes = Probes({'broker': slow}, lambda: self.now)
        found: list[bool] = []
        asking = [
            threading.Thread(target=lambda: found.append(probes.passes('broker'))) for _ in range(4)
        ]
        for thread in asking:
            thread.start()
        self.assertTrue(looking.wait(30))
        go_on.set()
        for thread in asking:
            thread.join(30)
        self.assertEqual(([True] * 4, 1), (found, self.made))
