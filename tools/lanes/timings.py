# SPDX-License-Identifier: Apache-2.0

"""The last duration of each test, on this machine or where the timings were recorded."""

from __future__ import annotations

import datetime
import json
import pathlib
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from stestr.repository import util

FILE = pathlib.Path('tests', 'timings.json')
# The shortest duration that is recorded, in seconds.
LEAST = 0.5
# The assumed duration of other tests, in seconds. stestr starts groups with tests of
# unknown duration last, when no other tests are left to balance the workers.
QUICK = 0.1


def written(path: pathlib.Path) -> dict[str, float]:
    """Return the timings that are part of the clone, in seconds by test."""
    if not path.exists():
        return {}
    found: dict[str, float] = json.loads(path.read_text(encoding='utf-8'))
    return found


def write(times: Mapping[str, float], path: pathlib.Path) -> None:
    """Write the timings of all slow tests for other clones."""
    slow = {name: round(taken, 1) for name, taken in sorted(times.items()) if taken >= LEAST}
    path.write_text(json.dumps(slow, indent=1) + '\n', encoding='utf-8')


def repository(root: pathlib.Path) -> Any:
    """Open the repository of stestr; create it with the timings of the clone if missing."""
    if (root / '.stestr' / 'format').exists():
        return util.get_repo_open(repo_url=str(root))
    made = util.get_repo_initialise(repo_url=str(root))
    _insert(made, written(root / FILE))
    return made


def known(found: Any, ids: Iterable[str]) -> dict[str, float]:
    """Return the durations of tests that have run before, in seconds."""
    times: dict[str, float] = found.get_test_times(list(ids))['known']
    return times


def guess(found: Any, ids: Iterable[str]) -> None:
    """Record an assumed duration for tests that have never run."""
    quick = found.get_test_times(list(ids))['unknown']
    if quick:
        _insert(found, dict.fromkeys(sorted(quick), QUICK))


def _insert(repository: Any, times: Mapping[str, float]) -> None:
    began = datetime.datetime.now(datetime.UTC)
    inserter = repository.get_inserter()
    inserter.startTestRun()
    for name, taken in times.items():
        over = began + datetime.timedelta(seconds=taken)
        inserter.status(test_id=name, test_status='inprogress', timestamp=began)
        inserter.status(test_id=name, test_status='success', timestamp=over)
    inserter.stopTestRun()
