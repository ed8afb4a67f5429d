# SPDX-License-Identifier: Apache-2.0
"""The volumes of one reservation in Cinder.

A created volume has the id of the reservation and a number as metadata, by which
Climate finds it if the response was lost. Once its id is known, Climate records
that, since the owner can change the metadata. A call that hangs can create a
volume after another manager has created it already: each call also has a unique
mark, so that the second volume is recognized and deleted. A volume of another
project is never part of the reservation, whatever its metadata.

Volumes that are left behind are never swept up: a volume restored from a backup
has the metadata of the original.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import uuid
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.cloud import base
from climate.plugins import contract
from climate.plugins.volume import end
from climate.plugins.volume.facts import VolumeFacts
from climate.plugins.volume.request import VolumeRequest

RESERVATION_KEY = 'climate:reservation'
NUMBER_KEY = 'climate:number'
# Key of the metadata that is unique to each call that creates a volume. A copy of
# a volume has the mark of the original.
CALL_KEY = 'climate:call'

_AT_ONCE = datetime.timedelta(0)
_COMING = frozenset({'creating', 'downloading'})
_IDLE = frozenset({'available', 'error'})


class _Effects:
    """The base of both kinds of effects."""

    def __init__(
        self,
        work: contract.Work,
        cloud: base.Cloud,
        request: VolumeRequest,
        settings: end.StorageSettings,
    ) -> None:
        self._work = work
        self._cloud = cloud
        self._request = request
        self._settings = settings
        self._facts = VolumeFacts.of(work.reservation)

    def _ended(self, volumes: tuple[base.Volume, ...], steps: tuple[str, ...]) -> contract.Outcome:
        ends = end.VolumeEnds(self._work, self._cloud, steps, self._settings)
        return ends.outcome(ends.run(volumes), self._facts.ended())

    def _changes(self, facts: VolumeFacts) -> dict[str, Any]:
        return facts.changes(self._work.reservation)

    @property
    def _ready(self) -> int:
        return self._facts.ready


class ExistingVolume(_Effects):
    """A volume that existed before the lease."""

    def start(self) -> contract.Outcome:
        """Check that it exists and can be used; it already belongs to the project.

        :raises climate.exceptions.Permanent: if it is gone or broken
        """
        return contract.Done() if self._ready else self.check()

    def check(self) -> contract.Outcome:
        """Check that it still exists and can be used.

        :raises climate.exceptions.Permanent: if it is gone or broken
        """
        volume = self._find()
        if volume is None:
            raise _gone(self._request.volume_id)
        _refuse_broken(volume)
        facts = dataclasses.replace(self._facts, volumes={'1': volume.id}, ready=1)
        return contract.Done(facts=self._changes(facts))

    def end(self) -> contract.Outcome:
        """Take the steps, unless the volume is gone."""
        volume = self._find()
        return self._ended(() if volume is None else (volume,), self._request.on_end)

    def undo(self) -> contract.Outcome:
        """Leave it unchanged."""
        facts = dataclasses.replace(self._facts, volumes={}, ready=0)
        return contract.Done(facts=self._changes(facts))

    def _find(self) -> base.Volume | None:
        volume = self._cloud.volume.find_volume(self._request.volume_id)
        # A project that the volume was transferred to has not leased it.
        if volume is None or volume.project_id != self._work.lease.project_id:
            return None
        return volume


class CreatedVolumes(_Effects):
    """Volumes that the lease creates."""

    def start(self) -> contract.Outcome:
        """Create missing volumes, and delete those of a change that was undone.

        :raises climate.exceptions.Permanent: if one goes to ``error``
        """
        volumes = self._found()
        missing = [n for n in range(self._ready + 1, self._request.amount + 1) if n not in volumes]
        unseen = [self._known()[n] for n in missing if n in self._known()]
        if unseen:
            # Cinder may not show them everywhere yet; others would be too many.
            raise exceptions.Transient(f'volume {", ".join(unseen)} is not visible')
        if missing:
            return self._make_all(missing, self._ids(volumes))
        surplus = tuple(volumes[n] for n in sorted(volumes) if n > self._request.amount)
        if surplus:
            outcome = self._ended(surplus, (end.DELETE,))
            if isinstance(outcome, contract.Again):
                return outcome
        return self._awaited(
            {n: volume for n, volume in volumes.items() if n <= self._request.amount}
        )

    def _make_all(self, missing: list[int], known: dict[str, str]) -> contract.Outcome:
        calls = self._calls(self._found())
        for number in missing:
            calls[str(number)] = uuid.uuid4().hex
            known[str(number)] = self._make(number, calls[str(number)])
        # Recorded before anything else can go wrong.
        return contract.Again(
            after=_AT_ONCE,
            why='volumes are being made',
            facts=self._changes(dataclasses.replace(self._facts, volumes=known, calls=calls)),
            steps=tuple(f'volume {known[str(number)]} is being made' for number in missing),
        )

    def _awaited(self, kept: Mapping[int, base.Volume]) -> contract.Outcome:
        """Wait for the volumes that were never ready."""
        new = [kept[number] for number in sorted(kept) if number > self._ready]
        for volume in new:
            _refuse_broken(volume)
        waits = [f'volume {item.id} is {item.status}' for item in new if item.status in _COMING]
        ids, calls = self._ids(kept), self._calls(kept)
        facts = dataclasses.replace(
            self._facts,
            volumes={n: ids[n] for n in ids if int(n) <= self._request.amount},
            calls={n: calls[n] for n in calls if int(n) <= self._request.amount},
        )
        if waits:
            return end.waiting(self._work, self._settings, waits, self._changes(facts))
        self._tidy(kept)
        return contract.Done(
            facts=self._changes(dataclasses.replace(facts, ready=self._request.amount)),
            steps=tuple(f'volume {volume.id} can be used' for volume in new),
        )

    def check(self) -> contract.Outcome:
        """Check that all exist and can be used.

        :raises climate.exceptions.Permanent: if one is gone or broken
        """
        volumes = self._found()
        for number, volume_id in sorted(self._known().items()):
            if number not in volumes:
                raise _gone(volume_id)
            _refuse_broken(volumes[number])
        self._tidy(volumes)
        facts = dataclasses.replace(
            self._facts, volumes=self._ids(volumes), calls=self._calls(volumes)
        )
        return contract.Done(facts=self._changes(facts))

    def end(self) -> contract.Outcome:
        """Take the steps with each volume."""
        return self._end_with(self._request.on_end)

    def undo(self) -> contract.Outcome:
        """Delete all of them, since their owner does not know them yet."""
        return self._end_with((end.DELETE,))

    def _end_with(self, steps: tuple[str, ...]) -> contract.Outcome:
        volumes = self._found()
        outcome = self._ended(tuple(self._duplicates(volumes)), (end.DETACH, end.DELETE))
        if isinstance(outcome, contract.Again):
            return outcome
        return self._ended(tuple(volumes[number] for number in sorted(volumes)), steps)

    # -- existing volumes

    def _calls(self, volumes: Mapping[int, base.Volume]) -> dict[str, str]:
        """Return the calls that created the volumes of the reservation, by number."""
        marks = {str(number): volume.metadata.get(CALL_KEY) for number, volume in volumes.items()}
        return {**{number: call for number, call in marks.items() if call}, **self._facts.calls}

    def _duplicates(self, volumes: Mapping[int, base.Volume]) -> Iterator[base.Volume]:
        """Yield the volumes that a hung call created a second time, or too late."""
        amount, calls, ids = self._request.amount, self._calls(volumes), self._ids(volumes)
        wanted = {ids[number] for number in ids if int(number) <= amount}
        for volume in self._marked().values():
            number, call = _number(volume.metadata), volume.metadata.get(CALL_KEY)
            counts = calls.get(str(number)) if number and number <= amount else ''
            if call and counts is not None and call != counts and volume.id not in wanted:
                yield volume

    def _tidy(self, volumes: Mapping[int, base.Volume]) -> None:
        """Delete duplicates that are not in use; the end of the lease deletes all."""
        for volume in self._duplicates(volumes):
            if volume.status in _IDLE and not volume.server_ids:
                with contextlib.suppress(base.CloudConflict):
                    self._cloud.volume.delete_volume(volume.id)

    def _marked(self) -> dict[str, base.Volume]:
        """Return the volumes of the project with the id of the reservation, by their ids."""
        marked = self._cloud.volume.list_volumes(metadata={RESERVATION_KEY: self._reservation})
        return {
            volume.id: volume
            for volume in marked
            if volume.project_id == self._work.lease.project_id
        }

    def _found(self) -> dict[int, base.Volume]:
        """Return the existing volumes of the reservation, by number."""
        mine = self._marked()
        volumes: dict[int, base.Volume] = {}
        for number, volume_id in self._known().items():
            volume = mine.get(volume_id) or self._cloud.volume.find_volume(volume_id)
            if volume is not None and volume.project_id == self._work.lease.project_id:
                volumes[number] = volume
        for volume in mine.values():
            marked_as = _number(volume.metadata)
            # The owner may have put the marks on other volumes, for example by
            # restoring a backup.
            if marked_as is not None and marked_as not in self._known():
                volumes.setdefault(marked_as, volume)
        return volumes

    @property
    def _reservation(self) -> str:
        return self._work.reservation.id

    def _known(self) -> dict[int, str]:
        return {int(number): volume_id for number, volume_id in self._facts.volumes.items()}

    def _ids(self, volumes: Mapping[int, base.Volume]) -> dict[str, str]:
        ids = {**self._known(), **{number: volume.id for number, volume in volumes.items()}}
        return {str(number): ids[number] for number in sorted(ids)}

    # -- making

    def _make(self, number: int, call: str) -> str:
        request, lease = self._request, self._work.lease
        name = request.name or lease.name
        if lease.trust_id is None:
            raise exceptions.Permanent('volumes cannot be created without a trust of their user')
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
        except base.CloudQuota as error:
            # The user may delete other volumes in time.
            raise exceptions.Transient(f'volume {number}: {error.message}') from error


def _number(metadata: Mapping[str, Any]) -> int | None:
    text = str(metadata.get(NUMBER_KEY, ''))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _gone(volume_id: str) -> exceptions.Permanent:
    return exceptions.Permanent(f'volume {volume_id} is gone')


def _refuse_broken(volume: base.Volume) -> None:
    if volume.status.startswith('error') or volume.status == 'deleting':
        raise exceptions.Permanent(f'volume {volume.id} is {volume.status}')
