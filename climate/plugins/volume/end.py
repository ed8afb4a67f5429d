# SPDX-License-Identifier: Apache-2.0
"""The steps of ``on_end`` on volumes at the end of a lease.

Each step checks the volumes and returns what it waits for. The copies that a step
creates have the id of the reservation in their names, by which Climate finds them
if a response was lost. No step begins before the previous one is known to have
worked. A failure with one volume does not stop the others.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions
from climate.cloud.base import as_transient
from climate.cloud.base import Backup
from climate.cloud.base import BlockStorage
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import TrustLost
from climate.cloud.base import Volume
from climate.cloud.base import VolumeSnapshot
from climate.conf.settings import option
from climate.conf.settings import seconds
from climate.conf.settings import Settings
from climate.plugins import contract
from climate.plugins.volume.facts import CopyFacts

LOG = logging.getLogger(__name__)

SNAPSHOT, BACKUP, DETACH, DELETE = 'snapshot', 'backup', 'detach', 'delete'
# Steps that need the rights of the user.
COPIES = frozenset({SNAPSHOT, BACKUP})
STEADY = frozenset({'available', 'in-use', 'error'})

_LONGEST_NAME = 200
_GOING = frozenset({'deleting', 'error_deleting'})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StorageSettings(Settings):
    """The configuration of the types that lease storage.

    :ivar poll: interval between two checks of Cinder
    :ivar patience: how long an end may take before operators are notified
    :ivar roles: the roles that users delegate with a trust
    """

    poll: datetime.timedelta = option('storage', 'poll', seconds)
    patience: datetime.timedelta = option('storage', 'patience', seconds)
    roles: frozenset[str] = option('trusts', 'roles', frozenset)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StepResults:
    """The results of the steps on all volumes.

    :ivar waits: the operations in progress, a line each
    :ivar done: completed steps, for the history
    :ivar copies: the finished copies, as the API shows them
    """

    waits: tuple[str, ...]
    done: tuple[str, ...]
    copies: tuple[Mapping[str, str], ...]


class VolumeEnds:
    """Takes the steps of one reservation.

    :param steps: the steps of ``on_end``, in their order
    """

    def __init__(
        self, work: contract.Work, cloud: Cloud, steps: Sequence[str], settings: StorageSettings
    ) -> None:
        self._work = work
        self._cloud = cloud
        self._settings = settings
        self._done: list[str] = []
        self._copies: list[Mapping[str, str]] = []
        take = {
            SNAPSHOT: self._snapshot,
            BACKUP: self._backup,
            DETACH: self._detach,
            DELETE: self._delete,
        }
        self._steps = [take[step] for step in steps]

    def run(self, volumes: Iterable[Volume]) -> StepResults:
        """Take the next step of each volume.

        :raises climate.exceptions.EffectError: if a step failed, after those of all
            other volumes; a permanent error if there is one
        """
        waits: list[str] = []
        errors: list[exceptions.EffectError] = []
        for volume in volumes:
            try:
                why = self._ended(volume)
            except exceptions.EffectError as error:
                errors.append(error)
            else:
                waits += [why] if why else []
        if errors:
            raise min(errors, key=lambda one: not isinstance(one, exceptions.Permanent))
        return StepResults(waits=tuple(waits), done=tuple(self._done), copies=tuple(self._copies))

    def outcome(self, results: StepResults, facts: CopyFacts) -> contract.Outcome:
        """Return the outcome of the effect.

        :param facts: the facts to record if all steps are done; their copies are ignored
        :raises climate.exceptions.Transient: if it takes too long
        """
        reservation = self._work.reservation
        known = CopyFacts.of(reservation)
        by_id = {copy['id']: dict(copy) for copy in (*known.copies, *results.copies)}
        copies = tuple(by_id.values())
        if not results.waits:
            facts = dataclasses.replace(facts, copies=copies)
            return contract.Done(facts=facts.changes(reservation), steps=results.done)
        changes = dataclasses.replace(known, copies=copies).changes(reservation)
        return waiting(self._work, self._settings, results.waits, changes, results.done)

    def _ended(self, volume: Volume) -> str:
        """Return the operation that a volume waits for; '' if all steps are done."""
        if not self._steps:
            return ''
        if volume.status == 'error_deleting':
            raise exceptions.Permanent(f'Cinder could not delete volume {volume.id}')
        if volume.status not in STEADY:
            return f'volume {volume.id} is {volume.status}'
        for take in self._steps:
            why = take(volume)
            if why:
                return why
        return ''

    # -- copies

    def _snapshot(self, volume: Volume) -> str:
        snapshots = self._cloud.volume.list_snapshots(volume.id)
        return self._copied(volume, SNAPSHOT, snapshots)

    def _backup(self, volume: Volume) -> str:
        backups = self._cloud.volume.list_backups(volume.id)
        return self._copied(volume, BACKUP, backups)

    def _copied(self, volume: Volume, kind: str, copies: Sequence[VolumeSnapshot | Backup]) -> str:
        """Make sure that there is one usable copy.

        A failed copy is deleted, and the next attempt creates another. If it cannot be
        deleted, no other is created, since each attempt would leave one behind.

        :raises climate.exceptions.Permanent: if the copy failed
        """
        mark = _mark(self._work)
        mine = [copy for copy in copies if copy.name.endswith(mark)]
        for copy in mine:
            if copy.status == 'available':
                self._done.append(f'{kind} {copy.id} of volume {volume.id} is made')
                self._copies.append({'type': kind, 'id': copy.id, 'volume_id': volume.id})
                return ''
        for copy in mine:
            if copy.status in ('error', 'error_deleting'):
                raise self._failed(volume, kind, copy)
            return f'{kind} {copy.id} of volume {volume.id} is {copy.status}'
        made = self._made(volume, kind, f'{volume.name[:_LONGEST_NAME]} {mark}'.strip())
        return f'{kind} {made} of volume {volume.id} is being made'

    def _failed(
        self, volume: Volume, kind: str, copy: VolumeSnapshot | Backup
    ) -> exceptions.EffectError:
        verbs = self._cloud.volume
        reason = getattr(copy, 'reason', '')
        left = ''
        try:
            (verbs.delete_snapshot if kind == SNAPSHOT else verbs.delete_backup)(copy.id)
        except CloudConflict as error:
            left = f', and cannot be deleted ({error.message})'
        return exceptions.Permanent(
            f'{kind} {copy.id} of volume {volume.id} failed{": " * bool(reason)}{reason}{left}; '
            'the volume was not changed'
        )

    def _made(self, volume: Volume, kind: str, name: str) -> str:
        def make(cinder: BlockStorage) -> str:
            return (cinder.create_snapshot if kind == SNAPSHOT else cinder.create_backup)(
                volume.id, name
            )

        trust_id = self._work.lease.trust_id
        # Another caller may just have changed it.
        with as_transient(CloudConflict, CloudNotFound):
            if trust_id is not None:
                try:
                    return make(self._cloud.acting_for(trust_id).volume)
                except TrustLost as error:
                    # A copy that an operator has to transfer is better than none.
                    LOG.warning(
                        'Lease %s: the %s of volume %s is created in the service project: %s',
                        self._work.lease.id,
                        kind,
                        volume.id,
                        error.message,
                    )
                    self._done.append(
                        f'the {kind} of volume {volume.id} is made in the service project, because '
                        'the trust of the user is lost'
                    )
            return make(self._cloud.volume)

    # -- detaching and deleting

    def _detach(self, volume: Volume) -> str:
        if not volume.server_ids:
            return ''
        for server_id in volume.server_ids:
            try:
                self._cloud.compute.detach_volume(server_id, volume.id)
            except CloudConflict as error:
                return f'volume {volume.id} cannot be detached yet: {error.message}'
        if self._status(volume) == 'available':
            return ''
        return f'volume {volume.id} is being detached'

    def _delete(self, volume: Volume) -> str:
        now = self._cloud.volume.find_volume(volume.id)
        if now is None:
            return ''
        if now.server_ids:
            raise exceptions.Permanent(
                f'volume {volume.id} is attached to {", ".join(now.server_ids)} and was not '
                'deleted: it has to be detached first'
            )
        if now.status not in STEADY | _GOING:
            return f'volume {volume.id} is {now.status}'
        try:
            self._cloud.volume.delete_volume(volume.id)
        except CloudConflict as error:
            raise self._undeleted(volume, error) from error
        if self._status(volume) is None:
            self._done.append(f'volume {volume.id} is deleted')
            return ''
        return f'volume {volume.id} is being deleted'

    def _undeleted(self, volume: Volume, error: CloudConflict) -> exceptions.EffectError:
        snapshots = self._cloud.volume.list_snapshots(volume.id)
        if not snapshots:
            return exceptions.Transient(error.message)
        names = ', '.join(snapshot.id for snapshot in snapshots)
        return exceptions.Permanent(
            f'volume {volume.id} was not deleted: it has snapshots, {names}'
        )

    def _status(self, volume: Volume) -> str | None:
        present = self._cloud.volume.find_volume(volume.id)
        return None if present is None else present.status


def waiting(
    work: contract.Work,
    settings: StorageSettings,
    waits: Iterable[str],
    facts: Mapping[str, Any] | None = None,
    steps: tuple[str, ...] = (),
) -> contract.Again:
    """Return the outcome of an effect that waits for Cinder.

    :raises climate.exceptions.Transient: if it takes too long
    """
    why = '; '.join(waits)
    if work.now - work.since > settings.patience:
        raise exceptions.Transient(f'it takes too long: {why}')
    return contract.Again(after=settings.poll, why=why, facts=facts or {}, steps=steps)


def _mark(work: contract.Work) -> str:
    return f'reservation:{work.reservation.id}'
