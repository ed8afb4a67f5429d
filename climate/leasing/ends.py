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

"""Tells filters that a lease is over, or that a change of it was undone."""

from __future__ import annotations

import datetime
import uuid

from climate.db.store import Transaction
from climate.domain.charges import ChargeState
from climate.domain.events import Event
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.lifecycles import EventState
from climate.domain.lifecycles import LeaseStatus
from climate.enforcement import ledger
from climate.enforcement.base import Action
from climate.enforcement.base import End
from climate.enforcement.base import Ending
from climate.enforcement.base import Question
from climate.enforcement.gate import Gate
from climate.leasing import following
from climate.leasing import judging
from climate.leasing import notices


def over(
    tx: Transaction, plugins: notices.Plugins, gate: Gate, lease: Lease, ending: Ending
) -> None:
    """Have filters told that a lease is over, once in its life.

    :param lease: as it is before; it still has its allocations
    """
    if not gate.judges(lease.project_id) or not gate.hearing(ChargeState.END):
        return
    # A start that failed was told when it did, and is followed by an undoing.
    told = any(event.kind is EventKind.UNDO for event in lease.events)
    if told or lease.status is LeaseStatus.TERMINATED:
        return
    ended_at = _ended_at(lease, ending, tx.now)
    end = End(
        id=str(uuid.uuid4()),
        terms=judging.terms(tx, plugins, lease),
        ending=ending,
        ended_at=ended_at,
        used=_used(lease, ended_at),
    )
    ledger.ended(tx, gate, end)


def undone(
    tx: Transaction, plugins: notices.Plugins, gate: Gate, lease: Lease, event: Event
) -> None:
    """Have filters told that a change they allowed was undone.

    :param lease: as it is again
    :param event: the one that was to bring the change about
    """
    charge_id = event.payload.get(following.CHARGE)
    if charge_id is None or not gate.hearing(ChargeState.RELEASE):
        return
    question = Question(
        id=charge_id,
        action=Action.UPDATE,
        user_id=lease.user_id,
        now=tx.now,
        terms=judging.terms(tx, plugins, lease),
        undone=True,
    )
    ledger.undone(tx, gate, question)


def _ended_at(lease: Lease, ending: Ending, now: datetime.datetime) -> datetime.datetime:
    """Until when the lease could be used, whenever all was given back."""
    if ending is Ending.ENDED:
        return lease.period.end
    if ending is Ending.DELETED:
        asked = [event.time for event in lease.events if event.kind is EventKind.DELETE]
        return min([*asked, now, lease.period.end])
    return now


def _used(lease: Lease, ended_at: datetime.datetime) -> datetime.timedelta:
    begun = max(lease.period.start, lease.created_at or lease.period.start)
    nothing = datetime.timedelta(0)
    return max(ended_at - begun, nothing) if _started(lease) else nothing


def _started(lease: Lease) -> bool:
    """Whether the lease had what it is about.

    A start that was cancelled is DONE as well, so the event does not tell;
    without reservations there is nothing else to go by.
    """
    if lease.reservations:
        return lease.started
    return any(
        event.kind is EventKind.START and event.state is EventState.DONE for event in lease.events
    )
