# SPDX-License-Identifier: Apache-2.0

"""Prints the table of races.

``python -m tests.exhaustive.races --rounds 300 --match extend``
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from collections.abc import Iterator

from tests import services
from tests.exhaustive.races import defences
from tests.exhaustive.races import over_http
from tests.exhaustive.races import placement_races
from tests.exhaustive.races import random_workload
from tests.exhaustive.races import rounds
from tests.exhaustive.races.tallies import table
from tests.exhaustive.races.tallies import Tally


def main() -> int:
    """Race, print each line at once and the table at the end; return 1 after failures."""
    parser = argparse.ArgumentParser(prog='python -m tests.exhaustive.races')
    parser.add_argument('--rounds', type=int, default=20, help='of each pair')
    parser.add_argument('--engine', choices=services.DATABASE_SERVERS, action='append')
    parser.add_argument('--processes', type=int, choices=range(2, 9), action='append')
    parser.add_argument(
        '--defences', choices=defences.ALL, default='both', help='safeguards to keep'
    )
    parser.add_argument('--match', default='', help='only races whose names contain this text')
    parser.add_argument('--http', action='store_true', help='only the race over HTTP')
    parser.add_argument('--histories', action='store_true', help='only the random workload')
    parser.add_argument('--placements', action='store_true', help='only leases with placements')
    options = parser.parse_args()
    engines = options.engine or services.DATABASE_SERVERS
    if options.histories:
        return _histories(options, engines)
    found = []
    for tally in _races(options, engines):
        _say('  '.join(tally.cells))
        for failure in tally.failures:
            _say(f'    {failure}')
        found.append(tally)
    _say('')
    for line in table(found):
        _say(line)
    return int(any(tally.failures for tally in found))


def _races(options: argparse.Namespace, engines: Iterable[str]) -> Iterator[Tally]:
    defended = defences.ALL[options.defences]
    for engine in engines:
        if options.http:
            with over_http.HttpRace(engine, defended) as race:
                yield race.run(options.rounds)
            continue
        if options.placements:
            with placement_races.PlacementRace(engine, defended) as placing:
                for processes in options.processes or (2, 8):
                    for changes in (False, True):
                        yield placing.run(changes, processes, options.rounds)
            continue
        with rounds.PairRunner(engine, defended) as runner:
            for pair in rounds.pairs():
                if options.match in pair.name:
                    for processes in options.processes or (2, 8):
                        yield runner.run(pair, processes, options.rounds)


def _histories(options: argparse.Namespace, engines: Iterable[str]) -> int:
    wrong = 0
    defended = defences.ALL[options.defences]
    for engine in engines:
        with random_workload.RandomWorkload(engine, defended) as workload:
            tally = workload.run(options.rounds)
        for line in (*tally.lines(), *tally.failures):
            _say(line)
        wrong += len(tally.failures)
    return int(bool(wrong))


def _say(line: str) -> None:
    sys.stdout.write(f'{line}\n')
    sys.stdout.flush()


if __name__ == '__main__':
    sys.exit(main())
