# SPDX-License-Identifier: Apache-2.0

"""``python -m tools.lanes LANE...``: runs tests, and reports the results.

The exit status is 0 if all tests passed, 1 if one failed, and 2 if none matched.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import signal
import sys
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from concurrent import futures

from tools.lanes import repeats
from tools.lanes import report
from tools.lanes import running
from tools.lanes import shards
from tools.lanes import timings
from tools.lanes import touched
from tools.lanes.lanes import Lane
from tools.lanes.lanes import LANES
from tools.lanes.lanes import ROOT
from tools.lanes.shards import Shard


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='python -m tools.lanes', description=__doc__)
    parser.add_argument('lanes', nargs='+', choices=LANES, metavar='LANE')
    parser.add_argument('--only', action='append', default=[], help='a regular expression')
    parser.add_argument('--shard', type=Shard.parse, help='run a part of each lane, such as 1/8')
    parser.add_argument(
        '--touched',
        action='store_true',
        help='add to the shard every test of a resource type whose code changed recently',
    )
    parser.add_argument(
        '--workers', type=int, default=os.cpu_count() or 1, help='number of tests that run at once'
    )
    parser.add_argument('--numbers', type=pathlib.Path, help='file for the figures, as JSON')
    return parser


def chosen(lane: Lane, ids: Sequence[str], shard: Shard | None, only: Sequence[str]) -> list[str]:
    """Return the selected tests of a lane, in order."""
    mine = set(ids)
    if shard:
        mine = set(shard.of(ids, shards.of_lane(lane)))
        mine |= {name for name in ids if lane.always and re.search(lane.always, name)}
        if lane.divides_repeats:
            mine |= set(ids) - repeats.repeats(ids) - _of_other_quarters(lane, ids, shard)
    return [
        name
        for name in ids
        if name in mine and (not only or any(re.search(each, name) for each in only))
    ]


def _of_other_quarters(lane: Lane, ids: Sequence[str], shard: Shard) -> set[str]:
    slow = [name for name in ids if lane.slow and re.search(lane.slow, name)]
    return set(slow) - set(shard.quarter().of(slow, shards.of_lane(lane)))


def _touched(ids: Sequence[str]) -> list[str]:
    since = touched.base(ROOT)
    found = touched.touched(touched.changed(ROOT, since), touched.code())
    added = touched.tests_of(found, ids)
    names = ', '.join(sorted(found)) or 'no types'
    sys.stdout.write(f'{len(added):,} tests of code changed since {since[:9]}: {names}\n')
    return added


def _ids(name: str) -> list[str]:
    return running.listed(LANES[name])


def _listed(names: Iterable[str]) -> Mapping[str, list[str]]:
    """Return the ids of all tests of the lanes.

    At once, since listing a lane imports it for many seconds on one processor.
    """
    # Created here if it is missing, because the threads would both create it.
    timings.repository(ROOT)
    with futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        return dict(zip(names, threads.map(_ids, names), strict=True))


def main(argv: Sequence[str]) -> int:
    """Run the command; return its exit status."""
    arguments = _parser().parse_args(argv)
    # Like Ctrl-C, so that the workers end with this program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    outcomes = []
    try:
        for name, listed in _listed(arguments.lanes).items():
            lane = LANES[name]
            ids = chosen(lane, listed, arguments.shard, arguments.only)
            if arguments.shard:
                sys.stdout.write(f'{name}: {len(ids):,} tests in part {arguments.shard}\n')
            if arguments.touched:
                ids = sorted({*ids, *_touched(listed)})
            if ids:
                outcomes.append(running.run(lane, ids, arguments.workers, sys.stdout))
    except running.CannotList as error:
        sys.stdout.write(f'{error}\n')
        return 1
    except KeyboardInterrupt:
        return 130
    if not outcomes:
        sys.stdout.write('no test matches\n')
        return 2
    sys.stdout.writelines(f'{line}\n' for line in report.lines(outcomes))
    if not (arguments.shard or arguments.only):
        for outcome in outcomes:
            report.record(outcome)
    report.write(outcomes, arguments.numbers or ROOT / '.stestr' / 'lanes' / 'numbers.json')
    return int(any(outcome.count('failed') for outcome in outcomes))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
