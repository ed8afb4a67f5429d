# SPDX-License-Identifier: Apache-2.0

"""Divides a lane into shards, in the same way at any time and on any machine."""

from __future__ import annotations

import configparser
import dataclasses
import hashlib
import re
from collections.abc import Callable
from collections.abc import Iterable

from tools.lanes.lanes import Lane
from tools.lanes.lanes import ROOT

Group = Callable[[str], str]

# Of thousands, the one with which the longest sixteenth takes least, of the exhaustive lane
# and of the one on a cloud together (tests/timings.json). Another one puts every test
# into another part: the cycle that is under way would leave tests out.
_SALT = b'9447'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Shard:
    """One of several parts of a lane.

    :ivar index: the number of the part, from 1
    :ivar count: the number of parts
    """

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parse a shard such as ``2/8``.

        :raises ValueError: if it is not a shard
        """
        found = re.fullmatch(r'([1-9]\d*)/([1-9]\d*)', text)
        if not found or int(found[1]) > int(found[2]):
            raise ValueError(f'{text!r} is not a shard; write the second of eight as 2/8')
        return cls(index=int(found[1]), count=int(found[2]))

    def __str__(self) -> str:
        return f'{self.index}/{self.count}'

    def has(self, group: str) -> bool:
        """Whether a group of tests is in this part."""
        digest = hashlib.blake2b(group.encode(), digest_size=8, salt=_SALT).digest()
        return int.from_bytes(digest, 'big') % self.count == self.index - 1

    def quarter(self) -> Shard:
        """Return the quarter that this part belongs to; four parts in a row are all quarters."""
        return Shard(index=(self.index - 1) % 4 + 1, count=4)

    def of(self, ids: Iterable[str], group: Group) -> list[str]:
        """Return the tests of this part, in order."""
        return [each for each in ids if self.has(group(each))]


def group() -> Group:
    """Return a function from a test to its group, whose tests stestr runs in one worker."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / '.stestr.conf')
    regex = re.compile(parser['DEFAULT']['group_regex'])

    def named(test_id: str) -> str:
        found = regex.match(test_id)
        return found[0] if found else test_id

    return named


def of_class(test_id: str) -> str:
    """Return the name of the class of a test."""
    return test_id.partition('[')[0].rpartition('.')[0]


def of_lane(lane: Lane) -> Group:
    """Return the function by which a lane is divided.

    A test that runs alone is a group of its own: it takes minutes, and saves little by
    running after another one of its class.
    """
    together = of_class if lane.by_class else group()
    alone = re.compile(lane.serial) if lane.serial else None

    def named(test_id: str) -> str:
        return test_id if alone and alone.search(test_id) else together(test_id)

    return named
