# SPDX-License-Identifier: Apache-2.0

"""Results of tests, read from subunit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import IO

import subunit
import testtools

# In the ids of the results that stestr adds for workers with failed tests, or dead ones.
_WORKER = 'process-returncode'
_GOOD = {'success', 'xfail'}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """The result of one test.

    :ivar outcome: ``passed``, ``failed`` or ``skipped``
    :ivar seconds: the duration of the test
    :ivar log: its output, in sections; '' if there is none
    """

    name: str
    outcome: str
    seconds: float
    log: str = ''


def read(stream: IO[bytes], receive: Callable[[Result], None]) -> None:
    """Call *receive* with each result as soon as it arrives, until the stream ends."""

    def report(test: Mapping[str, Any]) -> None:
        result = _result(test)
        if result is not None:
            receive(result)

    target = testtools.StreamToDict(report)
    target.startTestRun()
    try:
        subunit.ByteStreamToStreamResult(stream, non_subunit_name='stdout').run(target)
    finally:
        # Also reports tests that began but never ended.
        target.stopTestRun()


def _result(test: Mapping[str, Any]) -> Result | None:
    status, name = test['status'], test['id']
    if status in ('exists', 'unknown') or _WORKER in name:
        return None
    start, stop = test['timestamps']
    seconds = (stop - start).total_seconds() if start and stop else 0.0
    log = ''.join(
        f'{title}:\n{content.as_text().rstrip()}\n'
        for title, content in sorted(test['details'].items())
        if content.content_type.type == 'text' and content.as_text().strip()
    )
    if status == 'skip':
        outcome = 'skipped'
    elif status in _GOOD:
        outcome = 'passed'
    else:
        outcome = 'failed'
        log = f'its worker died while it ran\n{log}' if status == 'inprogress' else log
    return Result(name=name, outcome=outcome, seconds=seconds, log=log)
