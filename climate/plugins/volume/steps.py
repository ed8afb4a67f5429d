# SPDX-License-Identifier: Apache-2.0
"""Reads ``on_end``: the steps on volumes at the end of a lease."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from climate.plugins import steps
from climate.plugins.fields import Fault
from climate.plugins.volume import end

KEY = 'on_end'
ALL = (end.SNAPSHOT, end.BACKUP, end.DETACH, end.DELETE)


@dataclasses.dataclass(frozen=True)
class VolumeSteps(steps.StepList):
    """The steps on volumes at the end of a lease."""

    words: Sequence[str] = ALL

    def read_list(self, value: Any) -> tuple[str, ...]:
        """Return the steps of a list."""
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            raise Fault('it is not a list of ' + ', '.join(self.words))
        return tuple(value)

    def check(self, steps: tuple[str, ...]) -> None:
        """Refuse steps that cannot work."""
        if end.SNAPSHOT in steps and end.SNAPSHOT not in self.words:
            raise Fault('snapshots lie in the pool, which the lease returns; use backup')
        for step in steps:
            if step not in self.words:
                raise Fault(f"'{step[:60]}' is not one of " + ', '.join(self.words))
            if steps.count(step) > 1:
                raise Fault(f'{step} is there twice')
        if end.DELETE in steps[:-1]:
            raise Fault('nothing can come after delete')
        if end.SNAPSHOT in steps and end.DELETE in steps:
            raise Fault(
                'Cinder deletes no volume that has snapshots; use backup in place of snapshot'
            )
