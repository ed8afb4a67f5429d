# SPDX-License-Identifier: Apache-2.0

"""Takes a block of a shell apart: commands, and what each one writes."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterator
from collections.abc import Sequence

PROMPT = '$ '
_HEREDOC = re.compile(r"<<-?'?(\w+)'?")
_UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
_TIME = re.compile(r'\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?')
_BORDER = re.compile(r'[+-]+\Z')
# What a page leaves out of a line.
_GAP = re.compile(r'…|\.\.\.')


@dataclasses.dataclass(frozen=True)
class Command:
    """A command of a page.

    :ivar text: as a shell takes it, without the prompt
    :ivar output: the lines that the page shows below it
    """

    text: str
    output: tuple[str, ...] = ()


def read_commands(text: str) -> list[Command]:
    """Return the commands of a block; all of it is one if it shows no prompt."""
    if not re.search(r'^\$ ', text, re.MULTILINE):
        return [Command(text.strip())]
    found = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(PROMPT):
            found.append(Command(_whole(line.removeprefix(PROMPT), lines)))
        elif found:
            last = found.pop()
            found.append(dataclasses.replace(last, output=(*last.output, line)))
    return found


def _whole(text: str, lines: Iterator[str]) -> str:
    while not _complete(text):
        text += '\n' + next(lines)
    return text


def _complete(text: str) -> bool:
    heredoc = _HEREDOC.search(text)
    if heredoc:
        return text.splitlines()[-1] == heredoc[1]
    if text.endswith('\\'):
        return False
    try:
        words(text)
    except ValueError:
        return False
    return True


def words(text: str) -> list[str]:
    """Return the words of a command, without a comment.

    :raises ValueError: if a quotation is not closed
    """
    return shlex.split(text.replace('\\\n', ''), comments=True)


def likeness(shown: Sequence[str], output: str) -> str | None:
    """Return the first line that a page shows and that was not written; None if all were.

    They have to come in this order. Ids and times differ, and so does the width of
    tables; what a page leaves out with dots may be anything.
    """
    rest = iter([_plain(line) for line in output.splitlines()])
    for line in shown:
        wanted = _plain(line)
        if not wanted or _BORDER.match(wanted) or wanted == 'ANY':
            continue
        pattern = re.compile('.*'.join(re.escape(part) for part in wanted.split('ANY')))
        if not any(pattern.fullmatch(written) for written in rest):
            return line
    return None


def _plain(line: str) -> str:
    line = _GAP.sub('ANY', _TIME.sub('TIME', _UUID.sub('ID', line)))
    return ' '.join(line.split())
