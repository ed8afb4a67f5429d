# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The lanes of tests, and which of them may run in parallel."""

from __future__ import annotations

import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lane:
    """The tests of one folder.

    :ivar serial: a regular expression of tests that need the machine for themselves, and
        run after the others, one at a time; None if there are none
    :ivar waiting: a regular expression of tests that mostly wait for servers; None if
        there are none. They run after the rest, :ivar:`crowd` at once
    :ivar spare: how many more tests run at once than there are workers, because tests of
        this lane spend part of their time waiting for servers
    :ivar always: a regular expression of tests that run in each shard of the lane
    :ivar divides_repeats: whether a shard leaves out only tests that repeat others on a
        database server
    :ivar by_class: whether the lane is divided by classes instead of groups; tests that need
        the machine for themselves are divided one by one in any case
    :ivar root: the root of the project
    """

    name: str
    serial: str | None = None
    waiting: str | None = None
    crowd: int = 1
    spare: int = 0
    always: str | None = None
    divides_repeats: bool = False
    by_class: bool = False
    root: pathlib.Path = ROOT

    @property
    def path(self) -> str:
        """The folder of its tests, relative to the root of the project."""
        return f'./tests/{self.name}'

    @property
    def folder(self) -> pathlib.Path:
        """The folder in which stestr keeps its runs, and lanes their logs."""
        return self.root / '.stestr'

    @property
    def log(self) -> pathlib.Path:
        """The file with the complete output of its last run."""
        return self.folder / 'lanes' / f'{self.name}.log'


# Tests whose subject is SQL, or processes that meet in the database: what they find on one
# engine says little about another one.
_OF_SERVERS = (
    r'^tests\.functional\.'
    r'(?:db\.|test_(?:at_once|races)\.|manager\.test_managers\.)'
)

LANES = {
    lane.name: lane
    for lane in (
        Lane(name='unit', divides_repeats=True),
        Lane(name='contract', divides_repeats=True),
        # One test per processor leaves a third of the processors idle.
        Lane(name='functional', spare=2, divides_repeats=True, always=_OF_SERVERS),
        Lane(name='exhaustive', spare=1),
        # Contract tests use hosts of the cloud that belong to no site. Each other class
        # has exclusive use of a site, or of the whole cloud.
        Lane(
            name='cloud',
            serial=r'\[alone',
            waiting=r'^tests\.cloud\.(?!test_contract)',
            crowd=4,
            always=r'\[.*\bsmoke\b',
            by_class=True,
        ),
    )
}
