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
"""Reads ``on_end``: what becomes of volumes at the end of a lease."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.plugins.volume_ends import BACKUP
from climate.plugins.volume_ends import DELETE
from climate.plugins.volume_ends import DETACH
from climate.plugins.volume_ends import SNAPSHOT

KEY = 'on_end'
ALL = (SNAPSHOT, BACKUP, DETACH, DELETE)


def schema(known: Sequence[str] = ALL) -> Mapping[str, Any]:
    """Return the JSON schema of the field."""
    return {'type': ['array', 'string', 'null'], 'items': {'enum': list(known)}}


def read(
    body: Mapping[str, Any], default: tuple[str, ...], known: Sequence[str] = ALL
) -> tuple[str, ...]:
    """Return the steps, in their order.

    A list, or a text with commas; *default* if there is neither.

    :raises climate.exceptions.MalformedParameter: if it is neither, or the
        steps cannot work
    """
    value = body.get(KEY)
    if value is None:
        return default
    if isinstance(value, str):
        value = [word.strip() for word in value.split(',') if word.strip()]
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise _malformed('it is not a list of ' + ', '.join(known))
    return _checked(tuple(value), known)


def _checked(steps: tuple[str, ...], known: Sequence[str]) -> tuple[str, ...]:
    if SNAPSHOT in steps and SNAPSHOT not in known:
        raise _malformed('snapshots lie in the pool, which is given back; use backup')
    for step in steps:
        if step not in known:
            raise _malformed(f"'{step[:60]}' is not one of " + ', '.join(known))
        if steps.count(step) > 1:
            raise _malformed(f'{step} is there twice')
    if DELETE in steps[:-1]:
        raise _malformed('nothing can come after delete')
    if SNAPSHOT in steps and DELETE in steps:
        raise _malformed(
            'Cinder deletes no volume that has snapshots; use backup in place of snapshot'
        )
    return steps


def _malformed(why: str) -> exceptions.MalformedParameter:
    return exceptions.MalformedParameter(f'Malformed parameter {KEY}: {why}')
