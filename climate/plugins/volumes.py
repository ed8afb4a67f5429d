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
"""The volumes of one reservation, as Cinder has them.

What is made bears the id of the reservation and a number as metadata, and is
found by them if the answer was lost; once known, it is remembered by its id,
for its owner can change its metadata. A call that hangs can make a volume when
another manager has made it already: each call has a mark of its own as well,
so that the second one is known and deleted. A volume of another project
is never one of the reservation, whatever it bears.

Volumes that are left are never swept up afterwards: what was restored from a
backup bears the metadata of what was backed up.
"""

from __future__ import annotations

import contextlib
import datetime
import uuid
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Cloud
from climate.clients.base import CloudConflict
from climate.clients.base import CloudQuota
from climate.clients.base import Volume
from climate.plugins import base
from climate.plugins.volume_ends import DELETE
from climate.plugins.volume_ends import DETACH
from climate.plugins.volume_ends import StorageSettings
from climate.plugins.volume_ends import VolumeEnds
from climate.plugins.volume_ends import waiting
from climate.plugins.volume_requests import VolumeRequest

VOLUMES_FACT = 'volumes'
# How many were ready for their owner: what becomes of those is the owner's matter.
_READY_FACT = 'ready'
RESERVATION_KEY = 'climate:reservation'
NUMBER_KEY = 'climate:number'
# Is another one with each call that makes a volume. What is a copy of a volume
# bears that of the original.
CALL_KEY = 'climate:call'
# By number, the call that made the volume which counts.
_CALLS_FACT = 'calls'

_AT_ONCE = datetime.timedelta(0)
_COMING = frozenset({'creating', 'downloading'})
_IDLE = frozenset({'available', 'error'})


class _Effects:
    """What both kinds have in common."""

    def __init__(
        self,
        work: base.Work,
        cloud: Cloud,
        request: VolumeRequest,
        settings: StorageSettings,
    ) -> None:
        self._work = work
        self._cloud = cloud
        self._request = request
        self._settings = settings

    def _ended(self, volumes: tuple[Volume, ...], steps: tuple[str, ...]) -> base.Outcome:
        ends = VolumeEnds(self._work, self._cloud, steps, self._settings)
        return ends.outcome(
            ends.run(volumes), {VOLUMES_FACT: None, _READY_FACT: None, _CALLS_FACT: None}
        )

    @property
    def _ready(self) -> int:
        return int(self._work.reservation.facts.get(_READY_FACT) or 0)


class Existing(_Effects):
    """A volume that was there before the lease."""

    def start(self) -> base.Outcome:
        """See that it is there and in order; it is the project's already.

        :raises climate.exceptions.Permanent: if it is not
        """
        return base.Done() if self._ready else self.check()

    def check(self) -> base.Outcome:
        """See that it still is.

        :raises climate.exceptions.Permanent: if it is not
        """
        found = self._find()
        if found is None:
            raise _gone(self._request.volume_id)
        _refuse_broken(found)
        return base.Done(facts={VOLUMES_FACT: {'1': found.id}, _READY_FACT: 1})

    def end(self) -> base.Outcome:
        """Take the steps; of one that is gone there are none to be taken."""
        found = self._find()
        return self._ended(() if found is None else (found,), self._request.on_end)

    def undo(self) -> base.Outcome:
        """Leave it as it is."""
        return base.Done(facts={VOLUMES_FACT: None, _READY_FACT: None})

    def _find(self) -> Volume | None:
        found = self._cloud.volume.find_volume(self._request.volume_id)
        # Who was given it meanwhile has not leased it.
        if found is None or found.project_id != self._work.lease.project_id:
            return None
        return found


class Made(_Effects):
    """Volumes that are made for the lease."""

    def start(self) -> base.Outcome:
        """Make those that are missing, and remove those of a change that was undone.

        :raises climate.exceptions.Permanent: if one goes to ``error``
        """
        found = self._found()
        missing = [n for n in range(self._ready + 1, self._request.amount + 1) if n not in found]
        if missing:
            return self._make_all(missing, self._ids(found))
        surplus = tuple(found[n] for n in sorted(found) if n > self._request.amount)
        if surplus:
            outcome = self._ended(surplus, (DELETE,))
            if isinstance(outcome, base.Again):
                return outcome
        return self._awaited(
            {n: volume for n, volume in found.items() if n <= self._request.amount}
        )

    def _make_all(self, missing: list[int], known: dict[str, str]) -> base.Outcome:
        calls = self._calls(self._found())
        for number in missing:
            calls[str(number)] = uuid.uuid4().hex
            known[str(number)] = self._make(number, calls[str(number)])
        # Remembered before anything else can go wrong.
        return base.Again(
            after=_AT_ONCE,
            why='volumes are being made',
            facts={VOLUMES_FACT: known, _CALLS_FACT: calls},
            steps=tuple(f'volume {known[str(number)]} is being made' for number in missing),
        )

    def _awaited(self, kept: Mapping[int, Volume]) -> base.Outcome:
        """Wait for those that were never ready."""
        new = [kept[number] for number in sorted(kept) if number > self._ready]
        for volume in new:
            _refuse_broken(volume)
        waits = [f'volume {item.id} is {item.status}' for item in new if item.status in _COMING]
        ids, calls = self._ids(kept), self._calls(kept)
        facts = {
            VOLUMES_FACT: {n: ids[n] for n in ids if int(n) <= self._request.amount},
            _CALLS_FACT: {n: calls[n] for n in calls if int(n) <= self._request.amount},
        }
        if waits:
            return waiting(self._work, self._settings, waits, facts)
        self._tidy(kept)
        return base.Done(
            facts={**facts, _READY_FACT: self._request.amount},
            steps=tuple(f'volume {volume.id} can be used' for volume in new),
        )

    def check(self) -> base.Outcome:
        """See that all are there and in order.

        :raises climate.exceptions.Permanent: if one is not
        """
        found = self._found()
        for number, volume_id in sorted(self._known().items()):
            if number not in found:
                raise _gone(volume_id)
            _refuse_broken(found[number])
        self._tidy(found)
        return base.Done(
            facts={VOLUMES_FACT: self._ids(found), _CALLS_FACT: self._calls(found)},
        )

    def end(self) -> base.Outcome:
        """Take the steps with each."""
        return self._over(self._request.on_end)

    def undo(self) -> base.Outcome:
        """Delete all: nobody was told that they may be used."""
        return self._over((DELETE,))

    def _over(self, steps: tuple[str, ...]) -> base.Outcome:
        found = self._found()
        outcome = self._ended(tuple(self._doubles(found)), (DETACH, DELETE))
        if isinstance(outcome, base.Again):
            return outcome
        return self._ended(tuple(found[number] for number in sorted(found)), steps)

    # -- what there is

    def _calls(self, found: Mapping[int, Volume]) -> dict[str, str]:
        """Return the calls that made the volumes which count, by number."""
        known: Mapping[str, str] = self._work.reservation.facts.get(_CALLS_FACT) or {}
        said = {str(number): volume.metadata.get(CALL_KEY) for number, volume in found.items()}
        return {**{number: call for number, call in said.items() if call}, **known}

    def _doubles(self, found: Mapping[int, Volume]) -> Iterator[Volume]:
        """Yield what was made a second time, or too late, by a manager that hung in the call."""
        amount, calls, ids = self._request.amount, self._calls(found), self._ids(found)
        wanted = {ids[number] for number in ids if int(number) <= amount}
        for volume in self._marked().values():
            number, call = _number(volume.metadata), volume.metadata.get(CALL_KEY)
            counts = calls.get(str(number)) if number and number <= amount else ''
            if call and counts is not None and call != counts and volume.id not in wanted:
                yield volume

    def _tidy(self, found: Mapping[int, Volume]) -> None:
        """Delete what was made a second time, unless it is in use; the end does in any case."""
        for volume in self._doubles(found):
            if volume.status in _IDLE and not volume.server_ids:
                with contextlib.suppress(CloudConflict):
                    self._cloud.volume.delete_volume(volume.id)

    def _marked(self) -> dict[str, Volume]:
        """Return the volumes of the project that bear the mark of the reservation, by id."""
        marked = self._cloud.volume.list_volumes(metadata={RESERVATION_KEY: self._reservation})
        return {
            volume.id: volume
            for volume in marked
            if volume.project_id == self._work.lease.project_id
        }

    def _found(self) -> dict[int, Volume]:
        """Return the volumes that are there, by number."""
        mine = self._marked()
        found: dict[int, Volume] = {}
        for number, volume_id in self._known().items():
            volume = mine.get(volume_id) or self._cloud.volume.find_volume(volume_id)
            if volume is not None and volume.project_id == self._work.lease.project_id:
                found[number] = volume
        for volume in mine.values():
            marked_as = _number(volume.metadata)
            # Its owner may have put the marks on others, such as by restoring a backup.
            if marked_as is not None and marked_as not in self._known():
                found.setdefault(marked_as, volume)
        return found

    @property
    def _reservation(self) -> str:
        return self._work.reservation.id

    def _known(self) -> dict[int, str]:
        facts: Mapping[str, str] = self._work.reservation.facts.get(VOLUMES_FACT) or {}
        return {int(number): volume_id for number, volume_id in facts.items()}

    def _ids(self, found: Mapping[int, Volume]) -> dict[str, str]:
        ids = {**self._known(), **{number: volume.id for number, volume in found.items()}}
        return {str(number): ids[number] for number in sorted(ids)}

    # -- making

    def _make(self, number: int, call: str) -> str:
        request, lease = self._request, self._work.lease
        name = request.name or lease.name
        if lease.trust_id is None:
            raise exceptions.Permanent('there is no trust of the user to make volumes by')
        try:
            return self._cloud.acting_for(lease.trust_id).volume.create_volume(
                f'{name}-{number}' if request.amount > 1 else name,
                request.size or None,
                volume_type=request.volume_type or None,
                availability_zone=request.availability_zone or None,
                source=request.source,
                metadata={
                    RESERVATION_KEY: self._reservation,
                    NUMBER_KEY: str(number),
                    CALL_KEY: call,
                },
            )
        except CloudQuota as error:
            # Something else may be given back before it is too late.
            raise exceptions.Transient(f'volume {number}: {error.message}') from error


def _number(metadata: Mapping[str, Any]) -> int | None:
    text = str(metadata.get(NUMBER_KEY, ''))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _gone(volume_id: str) -> exceptions.Permanent:
    return exceptions.Permanent(f'volume {volume_id} is not there any more')


def _refuse_broken(volume: Volume) -> None:
    if volume.status.startswith('error') or volume.status == 'deleting':
        raise exceptions.Permanent(f'volume {volume.id} is {volume.status}')
