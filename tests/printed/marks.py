# SPDX-License-Identifier: Apache-2.0

"""What becomes of a block of a page, as the page itself says in a comment above it.

The first line is the mark, the lines below it are run by the shell of the page::

    .. runs: standalone
       RESERVATION_ID=$(reservation demo)
"""

from __future__ import annotations

import dataclasses
import enum
import re

_MARK = re.compile(r'runs: (?P<where>\w+)(?:(?:;? because| as)? (?P<what>.+))?\Z')


class Where(enum.Enum):
    """Who runs a block. The values are the words of the pages."""

    STANDALONE = 'standalone'
    CLOUD = 'cloud'
    CONFIG = 'config'
    MAKE = 'make'
    TEST = 'test'
    NOT = 'not'


# What is done, for people.
DONE = {
    Where.STANDALONE: 'against one climate-standalone',
    Where.CLOUD: 'on a real cloud, by make cloud-test',
    Where.CONFIG: 'read by the part that it configures',
    Where.MAKE: 'targets and variables compared with the Makefile',
    Where.TEST: 'by a test of its own',
    Where.NOT: 'not at all',
}
# Those that need a word more: a file's name, the kind of a configuration, a test, a reason.
_NEEDS_MORE = {Where.CONFIG, Where.TEST, Where.NOT}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mark:
    """What becomes of a block.

    :ivar what: the file that it is written to, the kind of configuration that it
        is, the test that reads it, or the reason why it cannot be run
    :ivar hidden: lines of shell: before commands what readers have already, after
        a file what is done with it
    """

    where: Where
    what: str = ''
    hidden: str = ''


def read_mark(comment: str) -> Mark | None:
    """Return the mark that a comment is; None if it is an ordinary comment.

    :raises ValueError: if it is meant as a mark and none is understood
    """
    if not comment.startswith('runs:'):
        return None
    first, _, hidden = comment.partition('\n')
    found = _MARK.match(first.strip())
    if not found:
        raise ValueError(f'not a mark: {first}')
    where = Where(found['where'])
    what = found['what'] or ''
    if where in _NEEDS_MORE and not what:
        raise ValueError(f'says too little: {first}')
    return Mark(where=where, what=what, hidden=hidden)
