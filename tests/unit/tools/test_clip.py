# SPDX-License-Identifier: Apache-2.0

"""The recording of ``openstack lease`` in the documentation."""

from __future__ import annotations

import json
from importlib import metadata

from tests import base
from tools import clip


class ScreenTest(base.TestCase):
    """What a terminal shows."""

    def shown(self, *chunks: str) -> str:
        screen = clip.Screen()
        for each in chunks:
            screen.feed(each)
        return screen.text().plain

    def test_lines_and_colours(self) -> None:
        self.assertEqual('a b\nc', self.shown('a \x1b[1;32mb\x1b[0m\r\nc'))

    def test_a_bar_moves_and_goes(self) -> None:
        bar = ('x\r\n', '\x1b[?25lstart ━ 3', '\r\x1b[2Kstart ━━ 2')
        self.assertEqual('x\nstart ━━ 2', self.shown(*bar))
        self.assertEqual('x\ny', self.shown(*bar, '\r\n\x1b[?25h\r\x1b[1A\x1b[2K', 'y\r\n'))

    def test_long_lines_are_broken_as_in_a_terminal(self) -> None:
        long = 'a b' * clip.WIDTH
        self.assertEqual([clip.WIDTH] * 3, [len(line) for line in self.shown(long).split('\n')])


class ClipTest(base.TestCase):
    """What is committed."""

    def setUp(self) -> None:
        super().setUp()
        self.clip = clip.CLIP.read_text(encoding='utf-8')

    def test_the_recording_is_of_version_2(self) -> None:
        header = json.loads(self.clip.splitlines()[0])
        actual = tuple(map(header.get, ('version', 'width', 'height')))
        self.assertEqual((2, clip.WIDTH, clip.HEIGHT), actual)
        found = list(clip.events(self.clip))
        times = [at for at, _, _ in found]
        self.assertEqual(sorted(times), times)
        self.assertEqual({'o', 'm'}, {kind for _, kind, _ in found})
        # Reading another character set would show replacements.
        self.assertNotIn('\ufffd', self.clip)

    def test_the_recorded_commands_exist(self) -> None:
        known = {
            each.name.replace('_', ' ')
            for each in metadata.entry_points(group='openstack.lease.v1')
        }
        for scene in clip.SCENES:
            words = scene.line.split()
            self.assertTrue({' '.join(words[1:3]), ' '.join(words[1:4])} & known, scene.line)

    def test_the_frames_are_those_of_the_recording(self) -> None:
        drawn = clip.frames(self.clip)
        self.assertEqual([scene.frame for scene in clip.SCENES if scene.frame], list(drawn))
        for name, drawing in drawn.items():
            expected = (clip.FOLDER / f'book-by-command-{name}.svg').read_text(encoding='utf-8')
            self.assertEqual(expected, drawing, f'python -m tools.clip --draw: {name}')
