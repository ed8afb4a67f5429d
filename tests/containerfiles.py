# SPDX-License-Identifier: Apache-2.0

"""Reads a Containerfile, as far as that of Climate goes, and refuses what it does not know.

So a test can carry out the steps where there is no container engine.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import shlex
import shutil
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Final

_SHELL: Final = ('/bin/sh', '-c')
_PATH: Final = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
_VARIABLE: Final = re.compile(r'\$(\w+)')


class NotUnderstood(Exception):
    """The file has something that is unknown here; the message has the line."""


@dataclasses.dataclass(frozen=True, slots=True)
class Copy:
    """Copies a path from the context, or from an earlier stage."""

    source: str
    target: str
    stage: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """Runs a command.

    :ivar argv: with the shell, if there is one
    :ivar environment: the variables that are set by then, with build arguments
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    user: str
    folder: str


@dataclasses.dataclass(slots=True)
class Stage:
    """An image.

    :ivar environment: the variables of its processes
    :ivar user: numbers of the user and the group, with a colon; '' for root
    :ivar folder: where its command starts
    """

    base: str
    name: str
    steps: list[Copy | Run] = dataclasses.field(default_factory=list)
    environment: dict[str, str] = dataclasses.field(default_factory=lambda: {'PATH': _PATH})
    arguments: dict[str, str] = dataclasses.field(default_factory=dict)
    shell: tuple[str, ...] = _SHELL
    user: str = ''
    folder: str = '/'
    ports: list[int] = dataclasses.field(default_factory=list)
    command: tuple[str, ...] = ()

    def resolved(self, path: str) -> str:
        """Return an absolute path within the stage."""
        return str(pathlib.PurePosixPath(self.folder, path))


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the rest of each instruction, with its lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith('#')]
    joined = re.sub(r'\\\n\s*', ' ', '\n'.join(lines))
    for line in filter(None, map(str.strip, joined.splitlines())):
        name, _, rest = line.partition(' ')
        yield name, rest.strip()


def parse(text: str) -> list[Stage]:
    """Return the stages of a Containerfile, in order.

    :raises NotUnderstood: if it has anything that Climate's does not use
    """
    stages: list[Stage] = []
    for name, rest in instructions(text):
        if name == 'FROM':
            stages.append(_stage(rest))
        elif not stages or name not in _KNOWN:
            raise NotUnderstood(f'{name} {rest}')
        else:
            _KNOWN[name](stages[-1], rest)
    return stages


def _stage(rest: str) -> Stage:
    words = rest.split()
    if len(words) not in (1, 3) or (len(words) == 3 and words[1] != 'AS'):
        raise NotUnderstood(f'FROM {rest}')
    return Stage(words[0], words[2] if len(words) == 3 else '')


def _arg(stage: Stage, rest: str) -> None:
    name, separator, value = rest.partition('=')
    if not separator or '$' in value:
        raise NotUnderstood(f'ARG {rest}')
    stage.arguments[name] = value


def _env(stage: Stage, rest: str) -> None:
    for word in shlex.split(rest):
        name, separator, value = word.partition('=')
        if not separator:
            raise NotUnderstood(f'ENV {rest}')
        stage.environment[name] = _expanded(value, stage.environment)


def _expanded(value: str, known: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: known[found[1]], value)


def _copy(stage: Stage, rest: str) -> None:
    words = rest.split()
    origin = None
    if words[0].startswith('--from='):
        origin = words.pop(0).removeprefix('--from=')
    if len(words) != 2 or words[0].startswith('-') or '*' in rest:
        raise NotUnderstood(f'COPY {rest}')
    # What root copies belongs to root; so would what others copy.
    stage.steps.append(Copy(words[0], stage.resolved(words[1]), origin))


def _run(stage: Stage, rest: str) -> None:
    if rest.startswith(('-', '[', '<')):
        raise NotUnderstood(f'RUN {rest}')
    environment = stage.arguments | stage.environment
    stage.steps.append(Run((*stage.shell, rest), environment, stage.user, stage.folder))


def _shell(stage: Stage, rest: str) -> None:
    stage.shell = _words(f'SHELL {rest}')


def _command(stage: Stage, rest: str) -> None:
    stage.command = _words(f'CMD {rest}')


def _user(stage: Stage, rest: str) -> None:
    if not re.fullmatch(r'\d+:\d+', rest):
        raise NotUnderstood(f'USER {rest}')
    stage.user = rest


def _workdir(stage: Stage, rest: str) -> None:
    stage.folder = stage.resolved(rest)


def _expose(stage: Stage, rest: str) -> None:
    if not rest.isdecimal():
        raise NotUnderstood(f'EXPOSE {rest}')
    stage.ports.append(int(rest))


def _words(line: str) -> tuple[str, ...]:
    """Return the words of an instruction in the form of JSON."""
    try:
        words = json.loads(line.partition(' ')[2])
    except ValueError:
        raise NotUnderstood(line) from None
    return tuple(words)


_KNOWN: Final = {
    'ARG': _arg,
    'CMD': _command,
    'COPY': _copy,
    'ENV': _env,
    'EXPOSE': _expose,
    'RUN': _run,
    'SHELL': _shell,
    'USER': _user,
    'WORKDIR': _workdir,
}


def context(ignored: str) -> tuple[list[str], list[str]]:
    """Return what a ``.dockerignore`` lets in, and the names that it keeps out anywhere.

    :raises NotUnderstood: unless it excludes all, then includes paths, then excludes names
    """
    lines = [line for line in ignored.splitlines() if line and not line.startswith('#')]
    wanted = [line[1:] for line in lines if line.startswith('!')]
    names = [line[3:] for line in lines if line.startswith('**/')]
    if lines != ['*', *(f'!{path}' for path in wanted), *(f'**/{name}' for name in names)]:
        raise NotUnderstood(ignored)
    return wanted, names


def copy_context(tree: pathlib.Path, target: pathlib.Path) -> None:
    """Copy what ``COPY . TARGET`` copies."""
    wanted, names = context((tree / '.dockerignore').read_text(encoding='utf-8'))
    for path in wanted:
        source, copy = tree / path, target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*names))
        else:
            shutil.copy2(source, copy)
