# SPDX-License-Identifier: Apache-2.0

"""``make demo USE_CASE=...``: each of the common uses is played to its end."""

from __future__ import annotations

import re

import fixtures

from tests.base import TestCase
from tests.functional.demo import Demo

SERVER = (
    r'booked: flavor:instance, the room for it',
    r'cloud: server web: SHELVED_OFFLOADED',
    r'cloud: server web: ACTIVE on compute-\d',
    r'cloud: image reserved_web: active',
    r'cloud: server web: deleting',
    r'TERMINATED',
    r'Its image is kept: reserved_web',
)
VOLUME = (
    r'booked: virtual:volume',
    r'cloud: volume data: available',
    r'cloud: volume data: in-use',
    r'cloud: server analyser: image_snapshot',
    r'cloud: server analyser: deleting',
    r'TERMINATED',
    r'and then the volume',
)
STACK = (
    r'booked: flavor:instance, the room for it',
    r'cloud: stack course: CREATE_COMPLETE',
    r'cloud: stack course: DELETE_IN_PROGRESS',
    r'TERMINATED',
)


class TestDemos(TestCase):
    """Those that ``make demo`` does not play by itself."""

    def play(self, use_case: str, lines: tuple[str, ...]) -> None:
        """Play a demo, and look for lines in it, in their order."""
        demo = self.closing(Demo(self.useFixture(fixtures.TempDir()).path, use_case))
        self.assertEqual(0, demo.end(), demo.text)
        self.assertEqual([], list(demo.folder.iterdir()))
        place = 0
        for pattern in lines:
            found = re.compile(pattern).search(demo.text, place)
            assert found is not None, f'no {pattern} in its place in:\n{demo.text}'
            place = found.end()

    def test_server(self) -> None:
        self.play('server', SERVER)

    def test_volume(self) -> None:
        self.play('volume', VOLUME)

    def test_stack(self) -> None:
        self.play('stack', STACK)
