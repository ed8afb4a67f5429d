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

"""Shared parts of the verbs of the simulated cloud."""

from __future__ import annotations

import re
from collections.abc import Mapping

from climate import exceptions
from climate.simulator.runner import VerbRunner

LONGEST = 255
_KEY = re.compile(r'[a-zA-Z0-9_:. -]{1,255}')


class ProjectVerbs:
    """Verbs as a project has them.

    :param runner: it knows in whose name they are called, to whom belongs what is made
    """

    def __init__(self, runner: VerbRunner) -> None:
        self._runner = runner


def check_metadata(metadata: Mapping[str, str | None]) -> None:
    """Refuse keys and values that Nova refuses everywhere.

    :raises climate.exceptions.Permanent: if there is one
    """
    for key, value in metadata.items():
        if not _KEY.fullmatch(key) or len(value or '') > LONGEST:
            raise exceptions.Permanent(f'{key[:50]!r} is no key, or has no value, of metadata')
