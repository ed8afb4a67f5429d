# SPDX-License-Identifier: Apache-2.0

"""The subscriber in the documents, run as printed, receives what is published."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import fixtures

from climate.messaging import publisher
from tests.functional.messaging import bus
from tests.printed import blocks
from tests.unit.messaging import samples

PAGE = 'doc/source/reference/notifications.rst'


class TestListenerPage(bus.RabbitCase):
    """The program of the page, in a process of its own."""

    def test_it_receives_that_a_lease_is_about_to_start(self) -> None:
        (block,) = (b for b in blocks.blocks() if b.page == PAGE and b.language == 'python')
        text = block.text
        for printed, meant in (
            ('rabbit://user:password@broker:5672/', self.url),
            ("topic='notifications'", f"topic='{self.topic}', exchange='{self.exchange}'"),
            ("pool='my-program'", f"pool='{self.topic}.info'"),
        ):
            self.assertIn(printed, text)
            text = text.replace(printed, meant)
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'program.py').write_text(text)
        output = self.closing((folder / 'output').open('w'))
        program = subprocess.Popen(
            [sys.executable, '-u', folder / 'program.py'], stdout=output, stderr=subprocess.STDOUT
        )
        self.addCleanup(program.wait, 10)
        self.addCleanup(program.kill)
        # What is sent before the subscriber listens is lost, so it is sent again.
        speaker = self.closing(publisher.from_conf(self.conf(), self.url))

        def is_received() -> bool:
            self.assertIsNone(program.poll(), (folder / 'output').read_text())
            speaker.publish([samples.message(1, 'lease.event.before_start_lease')])
            return 'starts in' in (folder / 'output').read_text()

        self.eventually(is_received)
        # It has the same id each time, and is printed once.
        self.assertEqual(1, (folder / 'output').read_text().count('starts in'))
