# SPDX-License-Identifier: Apache-2.0

"""Records a clip of ``openstack lease`` on ``climate-standalone``, and draws frames of it.

``python -m tools.clip`` runs the commands below in a terminal and writes ``CLIP``, a recording
for asciinema (version 2), with a marker where each frame is. ``python -m tools.clip --draw`` only
draws the frames of the recording again. It takes about a minute and leaves nothing behind.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import fcntl
import io
import json
import os
import pathlib
import pty
import re
import select
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from typing import Any
from typing import Final
from typing import NamedTuple

from rich import console
from rich import terminal_theme
from rich import text

from tools import stage

FOLDER: Final = pathlib.Path(__file__).parent.parent / 'doc' / 'source' / '_static'
CLIP: Final = FOLDER / 'book-by-command.cast'
WIDTH: Final = 96
HEIGHT: Final = 26
HOSTS: Final = 4
PROMPT: Final = '\x1b[1;32m$\x1b[0m '
_TYPING: Final = 0.04
_READING: Final = 2.0
# Longer pauses say something about the machine, but nothing about the service.
_LONGEST: Final = 1.5
_MOMENT: Final = 6.0
_CONTROL: Final = re.compile(r'\x1b\[([?0-9;]*)([A-Za-z])|[\r\n]')
_SVG: Final = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
 font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font: bold 18px system-ui, sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">
{matrix}
</g></g>
</svg>
"""


class Scene(NamedTuple):
    """A command of the clip.

    :ivar line: what is typed
    :ivar frame: the name of the frame after it, or within it; '' for none
    :ivar question: the end of the output that ``reply`` answers
    :ivar moment: what is in the output where a frame is within it; it is the first after
        some seconds
    :ivar hidden: whether only its effect is needed
    """

    line: str
    frame: str = ''
    question: str = ''
    reply: str = ''
    moment: str = ''
    hidden: bool = False


SCENES: Final = (
    Scene('openstack lease create training --hosts 2 --for 2h -f value -c status', hidden=True),
    Scene(
        "openstack lease create course --hosts 3 --where 'vcpus >= 8 and trait:HW_CPU_X86_AVX2' "
        '--for 2h -c name -c status -c start_date -c end_date',
        'refused',
        'Enter for none] ',
        '1',
    ),
    Scene('openstack lease create demo --hosts 1 --at +25s --for 3h -f value -c start_date'),
    Scene('openstack lease watch demo', 'watch', moment='━'),
    Scene('openstack lease calendar --hosts --for 6h', 'calendar'),
)
"""The commands, in their order."""


class Recorder:
    """Runs commands in a terminal, and keeps what they write.

    :ivar events: as in a recording of asciinema
    :param environment: of the commands
    """

    def __init__(self, environment: dict[str, str]) -> None:
        self.events: list[tuple[float, str, str]] = []
        self._environment = environment
        self._at = 0.0

    def play(self, scene: Scene) -> None:
        """Type a command and run it.

        :raises tools.stage.DemoFailed: if it fails
        """
        if scene.hidden:
            self._run(scene, kept=False)
            return
        self._write(PROMPT, 0.5)
        for letter in scene.line:
            self._write(letter, _TYPING)
        self._write('\r\n', 0.5)
        self._run(scene, kept=True)
        if scene.frame and not scene.moment:
            self.events.append((round(self._at, 3), 'm', scene.frame))
        self._at += _READING

    def _write(self, text_: str, pause: float) -> None:
        self._at += min(pause, _LONGEST)
        self.events.append((round(self._at, 3), 'o', text_))

    def _run(self, scene: Scene, *, kept: bool) -> None:
        program, *words = shlex.split(scene.line)
        terminal, own = pty.openpty()
        fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack('HHHH', HEIGHT, WIDTH, 0, 0))
        with contextlib.closing(os.fdopen(terminal, 'r+b', buffering=0)) as opened:
            with os.fdopen(own, 'rb') as given:
                process = subprocess.Popen(
                    [stage.command(program), *words],
                    stdin=given, stdout=given, stderr=given,
                    env=self._environment, start_new_session=True,
                )  # fmt: skip
            self._keep(opened, scene, kept=kept)
            process.wait(stage.START_PATIENCE)
        stage.expect(process.returncode == 0, f'{scene.line}: {process.returncode}')

    def _keep(self, opened: io.FileIO, scene: Scene, *, kept: bool) -> None:
        """Keep the output until all processes have closed the terminal; answer the question."""
        decoder, written, last = codecs.getincrementaldecoder('utf-8')(), '', time.monotonic()
        moment = last + _MOMENT if scene.moment else None
        # Reading a terminal that all processes have closed is an error on Linux.
        with contextlib.suppress(OSError):
            while select.select([opened], [], [], stage.START_PATIENCE)[0]:
                found = stage.NOISE.sub('', decoder.decode(opened.read(4096)))
                now = time.monotonic()
                if kept:
                    self._write(found, now - last)
                last, written = now, written + found
                if moment is not None and now > moment and scene.moment in found:
                    self.events.append((round(self._at, 3), 'm', scene.frame))
                    moment = None
                if scene.question and written.endswith(scene.question):
                    self._at += _READING
                    opened.write(f'{scene.reply}\n'.encode())
                    written, last = '', time.monotonic()


class Screen:
    """What a terminal shows of the output of our commands: lines, colours and a moving bar."""

    def __init__(self) -> None:
        self._lines = ['']
        self._row = 0
        self._returned = False

    def feed(self, found: str) -> None:
        """Show more output."""
        place = 0
        for match in _CONTROL.finditer(found):
            self._put(found[place : match.start()])
            place = match.end()
            self._control(match)
        self._put(found[place:])

    def text(self) -> text.Text:
        """Return the last lines, broken where the terminal ends."""
        shown = text.Text.from_ansi('\n'.join(self._lines).rstrip('\n'))
        lines = [
            part for line in shown.split() for part in line.divide(range(WIDTH, len(line), WIDTH))
        ]
        return text.Text('\n').join(lines[-HEIGHT:])

    def _put(self, letters: str) -> None:
        if letters:
            # A bar is written from its beginning each time, and is never shorter.
            old = '' if self._returned else self._lines[self._row]
            self._lines[self._row] = old + letters
            self._returned = False

    def _control(self, match: re.Match[str]) -> None:
        number, letter = match[1], match[2]
        if letter == 'm':
            self._lines[self._row] = ('' if self._returned else self._lines[self._row]) + match[0]
            self._returned = False
        elif letter == 'K':
            self._lines[self._row] = ''
        elif letter == 'A':
            self._row = max(0, self._row - int(number or 1))
        elif match[0] == '\r':
            self._returned = True
        elif match[0] == '\n':
            self._row, self._returned = self._row + 1, False
            if self._row == len(self._lines):
                self._lines.append('')


def record() -> dict[str, Any]:
    """Play all scenes on a service of its own; return the recording."""
    with tempfile.TemporaryDirectory(prefix='climate-') as folder:
        service = stage.Service(pathlib.Path(folder), hosts=HOSTS)
        try:
            environment = stage.environment(pathlib.Path(folder), service.wait())
            environment |= {'TERM': 'xterm-256color', 'TZ': 'Europe/Berlin', 'LANG': 'C.UTF-8'}
            recorder = Recorder(environment)
            for scene in SCENES:
                recorder.play(scene)
        finally:
            service.stop()
    header = {
        'version': 2,
        'width': WIDTH,
        'height': HEIGHT,
        'title': 'Book by command with openstack lease',
        'env': {'TERM': 'xterm-256color'},
    }
    return {'header': header, 'events': recorder.events}


def written(recording: dict[str, Any]) -> str:
    """Return a recording as asciinema reads it: a line for each event."""
    lines = [recording['header'], *recording['events']]
    return ''.join(json.dumps(line, ensure_ascii=False) + '\n' for line in lines)


def events(clip: str) -> Iterator[tuple[float, str, str]]:
    """Yield the events of a written recording."""
    for line in clip.splitlines()[1:]:
        at, kind, data = json.loads(line)
        yield at, kind, data


def frames(clip: str) -> dict[str, str]:
    """Return a drawing for each marker of a written recording, by its name.

    Each shows what was written since the marker before.
    """
    screen, found = Screen(), {}
    title = json.loads(clip.splitlines()[0])['title']
    for _, kind, data in events(clip):
        if kind == 'o':
            screen.feed(data)
        else:
            found[data] = _drawn(screen.text(), title, data)
            screen = Screen()
    return found


def _drawn(shown: text.Text, title: str, name: str) -> str:
    drawing = console.Console(
        record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system='truecolor'
    )
    drawing.print(shown, soft_wrap=True)
    found = drawing.export_svg(
        title=title, theme=terminal_theme.SVG_EXPORT_THEME, code_format=_SVG, unique_id=name
    )
    return '\n'.join(line.rstrip() for line in found.splitlines()) + '\n'


def main(arguments: list[str] | None = None) -> int:
    """Record the clip and draw its frames; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or '').splitlines()[0])
    parser.add_argument('--draw', action='store_true', help='only draw the frames again')
    if not parser.parse_args(arguments).draw:
        try:
            CLIP.write_text(written(record()), encoding='utf-8')
        except stage.DemoFailed as error:
            print(error, file=sys.stderr)
            return 1
    for name, drawing in frames(CLIP.read_text(encoding='utf-8')).items():
        (FOLDER / f'book-by-command-{name}.svg').write_text(drawing, encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
