# SPDX-License-Identifier: Apache-2.0

"""The report at the end of the lanes."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from collections.abc import Sequence

from tools.lanes.progress import span
from tools.lanes.running import Outcome

SLOWEST = 10
# The lines shown of each failure, and the number of failures; the log has all of them.
LINES = 80
FAILURES = 20


def lines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the failures, the slowest tests, and a summary of each lane."""
    for outcome in outcomes:
        yield from _failures(outcome)
    every = [result for outcome in outcomes for result in outcome.results]
    slowest = sorted(every, key=lambda result: result.seconds, reverse=True)[:SLOWEST]
    if slowest:
        yield 'The slowest tests:'
        yield from (f'  {result.seconds:7.2f} s  {result.name}' for result in slowest)
        yield ''
    for outcome in outcomes:
        yield _summary(outcome)


def _failures(outcome: Outcome) -> Iterator[str]:
    failed = [result for result in outcome.results if result.outcome == 'failed']
    for result in failed[:FAILURES]:
        yield f'{"=" * 78}\nFAILED {result.name}\n{"-" * 78}'
        text = result.log.splitlines()
        if len(text) > LINES:
            yield f'({len(text) - LINES} earlier lines are in {short(outcome.log)})'
        yield from text[-LINES:]
        yield ''
    if len(failed) > FAILURES:
        yield f'{len(failed) - FAILURES} more failures are in {short(outcome.log)}\n'
    for name in outcome.missing:
        yield f'NEVER RAN {name}: see {short(outcome.log)}'


def _summary(outcome: Outcome) -> str:
    good = 'FAILED' if outcome.count('failed') else 'ok'
    return (
        f'{outcome.lane:<11} {good:<6} {span(outcome.wall):>12} '
        f'({span(outcome.processor)} of processors), {outcome.count("passed"):,} passed, '
        f'{outcome.count("failed")} failed, {outcome.count("skipped")} skipped, '
        f'all in {short(outcome.log)}'
    )


def short(path: pathlib.Path) -> pathlib.Path:
    """Return a path relative to the current directory, if it is below it."""
    here = pathlib.Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def write(outcomes: Sequence[Outcome], path: pathlib.Path) -> None:
    """Write the figures for other programs."""
    numbers = {outcome.lane: _numbers(outcome) for outcome in outcomes}
    path.write_text(json.dumps(numbers, indent=1) + '\n', encoding='utf-8')


def record(outcome: Outcome) -> None:
    """Record the figures of a whole lane, for the documentation."""
    path = outcome.log.with_suffix('.json')
    path.write_text(json.dumps(_numbers(outcome), indent=1) + '\n', encoding='utf-8')


def _numbers(outcome: Outcome) -> dict[str, float]:
    return {
        'passed': outcome.count('passed'),
        'failed': outcome.count('failed'),
        'skipped': outcome.count('skipped'),
        'seconds': round(outcome.wall, 1),
        'processor_seconds': round(outcome.processor, 1),
    }
