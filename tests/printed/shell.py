# SPDX-License-Identifier: Apache-2.0

"""A shell for the commands of one page, as its readers have one.

It is a real ``bash``, in a folder of its own. The commands that are written in Python
are found before those of the machine, and forked (see :mod:`tests.commands`).
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import IO

import fixtures

from tests.commands import Commands
from tests.commands import HERE
from tests.commands import PATIENCE
from tests.printed.blocks import Block
from tests.printed.commands import Command
from tests.printed.commands import likeness
from tests.printed.commands import read_commands

# What a block may be that a shell runs; the others are files.
LANGUAGES = frozenset({'', 'console', 'shell', 'bash'})
HELPERS = pathlib.Path(__file__).with_name('helpers.py')
# How hidden lines say that a command ends with another status than 0, or that what
# it writes is another time not what the page shows.
STATUS = 'STATUS'
OUTPUT = 'OUTPUT'
# What hidden lines may call beside the helpers: ``finally`` puts a line off to the end,
# the last one first; ``simulated`` asks the simulated cloud as ``pick`` does.
PRELUDE = """
shopt -s expand_aliases
: > .finally
finally() { printf '%s\\n' "$*" | cat - .finally > .more; mv .more .finally; }
simulated() {
    .venv/bin/python -m climate.simulator --state-dir .state/cloud show --json | pick "$@"
}
"""
_ASSIGNED = re.compile(r'^(?:export )?([A-Z][A-Z0-9_]*)=', re.MULTILINE)
_FAILS = re.compile(r'^ERROR\b', re.MULTILINE)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Place:
    """Where the commands of pages run.

    :ivar environment: what a shell begins with
    :ivar commands: those that are forked
    :ivar programs: the names by which pages call them
    :ivar path: where other commands are found, before those of the machine
    :ivar words: what is written otherwise here than on the pages, such as addresses
    :ivar helped: the environment that helpers have besides
    :ivar active: whether programs are found by their names from the beginning, and not only
        once a page has activated the environment of ``make``
    """

    environment: Mapping[str, str]
    commands: Commands
    programs: tuple[str, ...]
    words: Mapping[str, str]
    path: str = ''
    helped: Mapping[str, str] = dataclasses.field(default_factory=dict)
    active: bool = True


class Shell(fixtures.Fixture):
    """A shell.

    :ivar folder: where it is
    :param helpers: the names of the helpers that hidden lines may use
    """

    def __init__(self, folder: pathlib.Path, place: Place, helpers: tuple[str, ...]) -> None:
        super().__init__()
        self.folder = folder
        self._place = place
        self._helpers = helpers
        self._values: dict[str, str] = {}

    def _setUp(self) -> None:
        folder, helpers = self.folder / '.venv' / 'bin', self.folder / '.helpers'
        folder.mkdir(parents=True)
        helpers.mkdir()
        for name in self._place.programs:
            client = HERE / 'fork_client.py'
            self._program(folder / name, '-I', '-S', str(client), self._place.commands.path, name)
        for name in self._helpers:
            self._program(helpers / name, '-I', '-S', str(HELPERS), name, **self._place.helped)
        (folder / 'activate').write_text(f'PATH={shlex.quote(str(folder))}:$PATH\n')
        active = str(folder) if self._place.active else ''
        path = ':'.join(filter(None, [str(helpers), active, self._place.path, '/usr/bin', '/bin']))
        reading, writing = os.pipe()
        self._process = subprocess.Popen(
            ['bash', '--noprofile', '--norc'],
            stdin=subprocess.PIPE,
            cwd=self.folder,
            env={**self._place.environment, 'PATH': path},
            pass_fds=[writing],
            start_new_session=True,
            text=True,
        )
        os.close(writing)
        self._statuses: IO[str] = os.fdopen(reading)
        self._writing = writing
        self.addCleanup(self._close)
        self.run(PRELUDE)

    def _program(self, path: pathlib.Path, *words: str, **named: str) -> None:
        given = ''.join(f'export {name}={shlex.quote(value)}\n' for name, value in named.items())
        path.write_text(f'#!/bin/sh\n{given}exec {shlex.join([sys.executable, *words])} "$@"\n')
        path.chmod(0o755)

    def _close(self) -> None:
        assert self._process.stdin is not None
        if self._process.poll() is None:
            self.run('. ./.finally')
        self._process.stdin.close()
        self._process.wait(20)
        self._statuses.close()

    def run(self, text: str) -> tuple[int, str]:
        """Run lines; return the status of the last one, and what they wrote."""
        assert self._process.stdin is not None
        lines, output = self.folder / '.lines', self.folder / '.output'
        lines.write_text(text + '\n')
        self._process.stdin.write(
            f'. ./.lines > .output 2>&1 < /dev/null; echo $? >&{self._writing}\n'
        )
        self._process.stdin.flush()
        ready, _, _ = select.select([self._statuses], [], [], PATIENCE)
        answer = self._statuses.readline() if ready else ''
        if not answer:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            raise AssertionError(f'the shell has ended: {text}\n{output.read_text()}')
        return int(answer), output.read_text()

    def hidden(self, block: Block) -> None:
        """Run what stands above a block, and take over what it says of words of the page.

        :raises AssertionError: if it fails, which is the end of the shell
        """
        assert block.mark is not None
        if not block.mark.hidden:
            return
        self.run(f'set -eo pipefail\n{block.mark.hidden}\nset +e +o pipefail')
        for name in _ASSIGNED.findall(block.mark.hidden):
            self._values[name] = self.run(f'printf %s "${name}"')[1]

    def play(self, block: Block) -> None:
        """Do with a block what its mark says.

        :raises AssertionError: if it fails, or says something else than the page
        """
        assert block.mark is not None
        if block.language not in LANGUAGES:
            if block.mark.what:
                file = self.folder / block.mark.what
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(self._here(block.text))
            self.hidden(block)
            return
        self.hidden(block)
        for command in read_commands(block.text):
            self._play(block, command)
        self._values.pop(STATUS, None)
        self._values.pop(OUTPUT, None)

    def _play(self, block: Block, command: Command) -> None:
        status, output = self.run(self._here(command.text))
        wanted = '\n'.join(command.output)
        fails = int(self._values.get(STATUS, bool(_FAILS.search(wanted))))
        said = f'{block.place}: {command.text}\nended with {status}:\n{output}'
        if status != fails:
            raise AssertionError(said)
        unlike = None if OUTPUT in self._values else likeness(command.output, output)
        if unlike is not None:
            raise AssertionError(f'{said}\nand does not say:\n{unlike}')

    def _here(self, text: str) -> str:
        """Return what a page says with the words of this place."""
        for word, meant in {**self._place.words, **self._values}.items():
            # Variables are left to the shell.
            pattern = rf'(?<![\w${{]){re.escape(word)}(?!\w)'
            text = re.sub(pattern, lambda _, meant=meant: meant, text)
        return text
