# SPDX-License-Identifier: Apache-2.0

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
    :ivar slow: a regular expression of slow tests, of which a shard runs a quarter; None if
        there are none
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
    slow: str | None = None
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

# Tests that start programs or a browser, as others do that always run, and differ from them
# in what the programs are asked for.
_SLOW = (
    r'^tests\.functional\.(?:'
    r'test_client(?:_hooks|_lists|_operators|_times)?\.(?!TestCommands\.test_a_lease_from)'
    r'|test_stock_client\.(?!TestOpenstack\.test_leases)'
    r'|test_page\.TestBrowsers\.(?!test_chromium_books)|test_page_links\.'
    r'|test_json_logs\.|test_metrics\.|test_commands_to_try\.|mail\.test_process\.'
    r'|power\.test_client\.|test_backup\.|test_standalone\.TestStopped\.)'
)

LANES = {
    lane.name: lane
    for lane in (
        Lane(name='unit', divides_repeats=True),
        Lane(name='contract', divides_repeats=True),
        # One test per processor leaves a third of the processors idle.
        Lane(name='functional', spare=2, divides_repeats=True, slow=_SLOW, always=_OF_SERVERS),
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
