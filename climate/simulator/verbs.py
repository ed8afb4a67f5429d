# SPDX-License-Identifier: Apache-2.0

"""Parts that the verbs of the simulated cloud share."""

from __future__ import annotations

import re
from collections.abc import Mapping

from climate import exceptions
from climate.simulator.runner import VerbRunner

LONGEST = 255
_KEY = re.compile(r'[a-zA-Z0-9_:. -]{1,255}')


class ProjectVerbs:
    """The verbs of a service for one user.

    :param runner: knows the project of the user, which owns the created objects
    """

    def __init__(self, runner: VerbRunner) -> None:
        self._runner = runner


def check_metadata(metadata: Mapping[str, str | None]) -> None:
    """Check metadata by the rules that Nova applies everywhere.

    :raises climate.exceptions.Permanent: if a key or value is not allowed
    """
    for key, value in metadata.items():
        if not _KEY.fullmatch(key) or len(value or '') > LONGEST:
            raise exceptions.Permanent(f'metadata key {key[:50]!r} or its value is invalid')
