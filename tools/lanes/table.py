# SPDX-License-Identifier: Apache-2.0

"""``python -m tools.lanes.table``: writes the table of lanes in the documentation.

Counts the tests of each lane, and takes the durations from the last run of the whole lane
on this machine; without such a run, the recorded duration stays. Also writes the timings
with which a fresh clone divides the tests among its workers.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import pathlib
import sys

from tools.lanes import running
from tools.lanes import timings
from tools.lanes.lanes import Lane
from tools.lanes.lanes import LANES
from tools.lanes.lanes import ROOT

FILE = ROOT / 'doc' / 'source' / 'contributor' / 'lanes.csv'
UNKNOWN = '-'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """The row of one lane.

    :ivar wall: elapsed minutes, on two processors
    :ivar processor: processor minutes
    """

    lane: str
    tests: int
    wall: str = UNKNOWN
    processor: str = UNKNOWN


def read(path: pathlib.Path = FILE) -> dict[str, Row]:
    """Return the recorded rows, by lane."""
    if not path.exists():
        return {}
    with path.open(encoding='utf-8', newline='') as file:
        return {
            name: Row(lane=name, tests=int(tests), wall=wall, processor=processor)
            for name, tests, wall, processor in csv.reader(file)
        }


def write(rows: list[Row], path: pathlib.Path = FILE) -> None:
    """Write the rows."""
    with path.open('w', encoding='utf-8', newline='') as file:
        csv.writer(file, lineterminator='\n').writerows(map(dataclasses.astuple, rows))


def row(lane: Lane, tests: int, before: Row | None) -> Row:
    """Return the new row of a lane with a number of *tests*."""
    record = lane.folder / 'lanes' / f'{lane.name}.json'
    if record.exists():
        taken = json.loads(record.read_text(encoding='utf-8'))
        wall, processor = (f'{taken[key] / 60:.1f}' for key in ('seconds', 'processor_seconds'))
    elif before:
        wall, processor = before.wall, before.processor
    else:
        wall = processor = UNKNOWN
    return Row(lane=lane.name, tests=tests, wall=wall, processor=processor)


def main() -> int:
    """Write the table and the timings."""
    before = read()
    listed = {name: running.listed(lane) for name, lane in LANES.items()}
    rows = [row(lane, len(listed[name]), before.get(name)) for name, lane in LANES.items()]
    write(rows)
    times = timings.written(ROOT / timings.FILE)
    ids = [name for found in listed.values() for name in found]
    times.update(timings.known(timings.repository(ROOT), ids))
    timings.write({name: times[name] for name in ids if name in times}, ROOT / timings.FILE)
    for each in rows:
        sys.stdout.write(f'{each.lane:<11} {each.tests:>5} tests, {each.wall} min\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
