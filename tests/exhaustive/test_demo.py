# SPDX-License-Identifier: Apache-2.0

"""``make demo``: it works, it is quick, and nothing is left of it, however it ends."""

from __future__ import annotations

import os
import re
import signal
import socket

import fixtures

from tests.base import TestCase
from tests.functional.demo import Demo

KEY_LINES = (
    r'Climate is ready at http://127\.0\.0\.1:\d+/v1',
    r'\$ openstack reservable resource list ',
    r'\$ openstack lease create demo --hosts 2 ',
    r'bus: lease\.create: created, from ',
    r'Not enough hosts available',
    r'1\. .*later',
    r'bus: lease\.event\.before_start_lease: starts in (1[5-9]|20) s',
    r'bus: lease\.event\.before_start_lease: starts in ([6-9]|10) s',
    r'bus: lease\.event\.before_start_lease: starts in [1-5] s',
    r'bus: lease\.event\.start_lease: started',
    r'ACTIVE \d+\.\d\d s after its start',
    r'aggregate [0-9a-f-]{36}: compute-\d, compute-\d',
    r'\| status     \| ACTIVE ',
    r'bus: lease\.event\.end_lease: ended',
    r'TERMINATED \d+\.\d\d s after its end',
    r'aggregate freepool: compute-1, compute-2, compute-3, compute-4',
    r'All hosts were released',
    r'its owner received this mail',
    r'your lease "demo" has started\. You have, until ',
    r'its port is free, its directory is removed',
)


class TestDemo(TestCase):
    """The demonstration as people start it."""

    def demo(self) -> Demo:
        """Return a demo that has just been started."""
        return self.closing(Demo(self.useFixture(fixtures.TempDir()).path))

    def assert_nothing_left(self, demo: Demo, service: int, port: int) -> None:
        """Fail if a process, a file or a listening port is."""
        self.assertEqual([], list(demo.folder.iterdir()))
        self.assertRaises(ProcessLookupError, os.kill, service, 0)
        with socket.socket() as probe:
            self.assertNotEqual(0, probe.connect_ex(('127.0.0.1', port)))

    def running(self) -> tuple[Demo, int, int]:
        """Return a demo that has got to its first lease, its service's process and port."""
        demo = self.demo()
        port = int(demo.wait_for(r'ready at http://127\.0\.0\.1:(\d+)')[1])
        return demo, min(demo.children()), port

    def test_shows_one_whole_lease(self) -> None:
        demo, service, port = self.running()
        self.assertEqual(0, demo.end(), demo.text)
        # The bus speaks whenever something comes, so only its own lines and
        # those of the story are each in order.
        places = {True: 0, False: 0}
        for pattern in KEY_LINES:
            of_bus = pattern.startswith('bus')
            found = re.compile(pattern).search(demo.text, places[of_bus])
            self.assertIsNotNone(found, f'no {pattern} in its place in:\n{demo.text}')
            assert found is not None
            places[of_bus] = found.start()
        self.assert_nothing_left(demo, service, port)

    def test_interrupted(self) -> None:
        demo, service, port = self.running()
        demo.wait_for(r'bus: lease\.create')
        demo.process.send_signal(signal.SIGINT)
        self.assertEqual(128 + signal.SIGINT, demo.end(20))
        self.assertIn('interrupted', demo.text)
        self.assert_nothing_left(demo, service, port)

    def test_fails_when_the_service_dies(self) -> None:
        demo, service, port = self.running()
        os.kill(service, signal.SIGKILL)
        self.assertEqual(1, demo.end(), demo.text)
        self.assertIn('The demo failed: ', demo.text)
        self.assert_nothing_left(demo, service, port)
