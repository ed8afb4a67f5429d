# SPDX-License-Identifier: Apache-2.0

"""Every pair of state and trigger, allowed or refused, against tables written here."""

from __future__ import annotations

import enum
import itertools

from climate.domain import lifecycles
from tests import base

# A line per state: what may happen in it, and what it becomes. What is not
# written here is refused. These tables are not made from those in the code.
LEASE = """
WAITING      book=PENDING end=TERMINATING delete=DELETING deleted=DELETED
PENDING      start=STARTING end=TERMINATING delete=DELETING deleted=DELETED
STARTING     start=STARTING started=ACTIVE end=TERMINATING delete=DELETING fail=ERROR
ACTIVE       change=UPDATING end=TERMINATING delete=DELETING
UPDATING     change=UPDATING changed=ACTIVE end=TERMINATING delete=DELETING
TERMINATING  end=TERMINATING ended=TERMINATED yielded=WAITING delete=DELETING fail=ERROR
TERMINATED   deleted=DELETED
DELETING     delete=DELETING deleted=DELETED fail=ERROR
DELETED
ERROR  end=TERMINATING ended=TERMINATED yielded=WAITING delete=DELETING deleted=DELETED fail=ERROR
"""

RESERVATION = """
pending  started=active ended=deleted fail=error
active   started=active yielded=pending ended=deleted fail=error
error    ended=deleted fail=error
deleted  ended=deleted
"""

EVENT = """
UNDONE       begin=IN_PROGRESS rearm=UNDONE cancel=DONE
IN_PROGRESS  begin=IN_PROGRESS postpone=UNDONE finish=DONE fail=ERROR cancel=DONE
DONE         rearm=UNDONE
ERROR
"""

ALL = (
    (lifecycles.LEASE, lifecycles.LeaseStatus, lifecycles.LeaseTrigger, LEASE),
    (lifecycles.RESERVATION, lifecycles.ReservationStatus, lifecycles.ReservationTrigger,
     RESERVATION),
    (lifecycles.EVENT, lifecycles.EventState, lifecycles.EventTrigger, EVENT),
)  # fmt: skip


def expected(table: str) -> dict[str, dict[str, str]]:
    """Return what a table above says: state -> trigger -> new state."""
    lines = [line.split() for line in table.strip().splitlines()]
    return {line[0]: dict(cell.split('=') for cell in line[1:]) for line in lines}


class LifeCycleTest(base.TestCase):
    def test_every_state_and_trigger_is_written_down(self) -> None:
        for _, states, triggers, table in ALL:
            rows = expected(table)
            self.assertEqual({state.value for state in states}, set(rows))
            used = {trigger for row in rows.values() for trigger in row}
            self.assertEqual({trigger.value for trigger in triggers}, used)

    def test_every_pair(self) -> None:
        for lifecycle, states, triggers, table in ALL:
            rows = expected(table)
            for old, trigger in itertools.product(states, triggers):
                self.check_pair(lifecycle, old, trigger, rows[old.value].get(trigger.value))

    def check_pair(
        self,
        lifecycle: lifecycles.LifeCycle,
        old: enum.StrEnum,
        trigger: enum.StrEnum,
        new: str | None,
    ) -> None:
        pair = f'{lifecycle.name}: {trigger} in {old}'
        self.assertEqual(new is not None, (old, trigger) in lifecycle.table, pair)
        if new is not None:
            self.assertEqual(new, lifecycle.table[old, trigger].value, pair)
            return
        refusal = self.assertRaises(
            lifecycles.TransitionRefused, lambda: lifecycle.table[old, trigger]
        )
        self.assertEqual((old, trigger), (refusal.old, refusal.trigger))
        for word in (lifecycle.name, old.value, trigger.value):
            self.assertIn(word, str(refusal))

    def test_every_state_can_be_reached(self) -> None:
        for lifecycle, states, _, _ in ALL:
            reached = {*lifecycle.beginnings}
            while True:
                further = {new for (old, _), new in lifecycle.table.items() if old in reached}
                if further <= reached:
                    break
                reached |= further
            self.assertEqual(set(states), reached, lifecycle.name)

    def test_every_lease_can_be_deleted(self) -> None:
        table = lifecycles.LEASE.table
        gone = {lifecycles.LeaseStatus.DELETED}
        for _ in lifecycles.LeaseStatus:
            gone |= {old for (old, _), new in table.items() if new in gone}
        self.assertEqual(set(lifecycles.LeaseStatus), gone)

    def test_beginnings(self) -> None:
        beginnings = [lifecycle.beginnings for lifecycle, _, _, _ in ALL]
        self.assertEqual([('PENDING', 'WAITING'), ('pending',), ('UNDONE',)], beginnings)

    def test_a_table_cannot_be_changed(self) -> None:
        def change() -> None:
            lifecycles.LEASE.table[
                lifecycles.LeaseStatus.DELETED, lifecycles.LeaseTrigger.START
            ] = lifecycles.LeaseStatus.ACTIVE

        self.assertRaises(TypeError, change)
