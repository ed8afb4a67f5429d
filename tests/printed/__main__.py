# SPDX-License-Identifier: Apache-2.0

"""Prints where each block of the pages runs, and which do not, with the reason.

``python -m tests.printed``; with ``--all`` a line for each block.
"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Iterator
from collections.abc import Sequence

from tests.printed.blocks import Block
from tests.printed.blocks import blocks
from tests.printed.commands import read_commands
from tests.printed.marks import DONE
from tests.printed.marks import Where
from tests.printed.shell import LANGUAGES

_WIDTH = max(map(len, DONE.values()))


def table(found: Sequence[Block]) -> Iterator[str]:
    """Yield the lines of the table."""
    count: collections.Counter[Where | None] = collections.Counter()
    commands: collections.Counter[Where | None] = collections.Counter()
    for block in found:
        where = block.mark.where if block.mark else None
        count[where] += 1
        if block.language in LANGUAGES:
            commands[where] += len(read_commands(block.text))
    yield f'{"":{_WIDTH}}  {"blocks":>8}  {"commands in them":>16}'
    for where, text in DONE.items():
        yield f'{text:{_WIDTH}}  {count[where]:8}  {commands[where]:16}'
    yield f'{"together":{_WIDTH}}  {len(found):8}  {sum(commands.values()):16}'
    if count[None]:
        yield f'{count[None]} blocks say nothing'


def reasons(found: Sequence[Block]) -> Iterator[str]:
    """Yield what is not run, by its reason."""
    places: dict[str, list[str]] = {}
    for block in found:
        if block.mark and block.mark.where is Where.NOT:
            places.setdefault(block.mark.what, []).append(block.place)
    for reason, where in sorted(places.items(), key=lambda pair: -len(pair[1])):
        yield f'{len(where):4}  {reason}'
        yield from (f'        {place}' for place in where)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(prog='python -m tests.printed', description=__doc__)
    parser.add_argument('--all', action='store_true', help='a line for each block')
    everything = parser.parse_args().all
    found = blocks()
    print('\n'.join(table(found)))
    print('\nNot run, because:\n')
    print('\n'.join(reasons(found)))
    if everything:
        print()
        for block in found:
            mark = f'{block.mark.where.value} {block.mark.what}' if block.mark else ''
            print(f'{block.place}  {block.language or "console"}  {mark}')


if __name__ == '__main__':
    main()
