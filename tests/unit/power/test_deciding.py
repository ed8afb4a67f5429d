# SPDX-License-Identifier: Apache-2.0

"""No order of events puts a host to sleep that is needed, or leaves one asleep."""

from __future__ import annotations

import datetime
from typing import Any

import hypothesis
from hypothesis import strategies as st

from climate.cloud.base import ComputeService
from climate.domain.health import ASLEEP
from climate.power import deciding
from climate.power.deciding import PowerAction
from climate.power.deciding import PowerSettings
from climate.power.deciding import View
from climate.power.records import PowerRecord
from tests import base

NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
SETTINGS = PowerSettings(idle_after=600.0, boot_time=120.0, margin=30.0)
SLEEPY = (PowerAction.MARK, PowerAction.SHUT_DOWN, PowerAction.CUT_OFF)


def after(seconds: float) -> datetime.datetime:
    """Return an instant."""
    return NOW + datetime.timedelta(seconds=seconds)


def service(state: Any = 'up', reason: str | None = None) -> ComputeService:
    """Return a nova-compute, disabled if there is a reason."""
    return ComputeService(
        id='1',
        host='compute-1',
        state=state,
        status='enabled' if reason is None else 'disabled',
        disabled_reason=reason or '',
    )


def view(**changes: Any) -> View:
    """Return a host that is up and that nobody needs."""
    values: dict[str, Any] = {
        'now': NOW,
        'on': True,
        'service': service(),
        'needed': None,
        'spare': True,
        'record': PowerRecord(),
    }
    return View(**values | changes)


_MOMENTS = st.none() | st.integers(-4000, 4000).map(after)
_RECORDS = st.builds(
    PowerRecord,
    idle_since=_MOMENTS,
    asleep_since=_MOMENTS,
    shutdown_at=_MOMENTS,
    woken_at=_MOMENTS,
    asked_at=_MOMENTS,
    asks=st.integers(0, 9),
    down_seen=st.booleans(),
    boots=st.lists(st.floats(0, 5000), max_size=5).map(tuple),
)
_SERVICES = st.none() | st.builds(
    service,
    st.sampled_from(['up', 'down']),
    st.sampled_from([None, ASLEEP, deciding.FAILED, '', 'a new fan']),
)
_VIEWS = st.builds(
    View,
    now=st.just(NOW),
    on=st.sampled_from([True, False, None]),
    service=_SERVICES,
    needed=_MOMENTS,
    spare=st.booleans(),
    record=_RECORDS,
)


class TestAlways(base.TestCase):
    """What holds whatever is known of a host."""

    @hypothesis.settings(max_examples=400)
    @hypothesis.given(_VIEWS)
    def test_rules(self, one: View) -> None:
        step = deciding.decide(one, SETTINGS)
        left = None if one.needed is None else (one.needed - NOW).total_seconds()
        if step.action in SLEEPY:
            self.assertTrue(one.spare)
            self.assertTrue(left is None or left > SETTINGS.lead(one.record) + 600)
            self.assertTrue(one.on)
        if step.action in (PowerAction.SHUT_DOWN, PowerAction.CUT_OFF):
            # Nothing can be scheduled there any more.
            self.assertTrue(one.marked)
        if one.disabled_by_others:
            self.assertEqual(PowerAction.NOTHING, step.action)
        if step.action is PowerAction.SWITCH_ON:
            self.assertIs(False, one.on)
        if step.ready:
            assert one.service is not None
            self.assertEqual(('up', 'enabled'), (one.service.state, one.service.status))
            self.assertIsNot(False, one.on)
        if step.action is PowerAction.ENABLE:
            self.assertTrue(one.marked)

    @hypothesis.given(_VIEWS)
    def test_none_sleeps_where_that_is_not_wanted(self, one: View) -> None:
        self.assertNotIn(deciding.decide(one, PowerSettings()).action, SLEEPY)


class Machine:
    """A host, its management controller and what Nova sees of it, as time goes by."""

    def __init__(self, boots: float = 100.0, obeys: bool = True) -> None:
        self.boots, self.obeys = boots, obeys
        self.on, self.reason, self.record = True, None, PowerRecord()
        self.changed_at = self.reported_at = -10000.0
        self.done: list[PowerAction] = []
        self.ready = False

    def state(self, now: float) -> str:
        """Return what Nova says: it notices late that a nova-compute went down."""
        if self.on and now - self.changed_at >= self.boots:
            return 'up'
        return 'up' if now - self.reported_at < 60 else 'down'

    def look(self, now: float, needed: float | None, **changes: Any) -> PowerAction:
        """Look at it once and do what is decided."""
        one = view(
            now=after(now),
            on=self.on,
            service=service(self.state(now), self.reason),
            needed=None if needed is None else after(needed),
            record=self.record,
            **changes,
        )
        step = deciding.decide(one, SETTINGS)
        self.record, self.ready = step.record, step.ready
        match step.action:
            case PowerAction.MARK:
                self.reason = ASLEEP
            case PowerAction.GIVE_UP:
                self.reason = deciding.FAILED
            case PowerAction.ENABLE:
                self.reason = None
            case PowerAction.SWITCH_ON:
                if self.obeys:
                    self.on, self.changed_at = True, now
            case PowerAction.SHUT_DOWN | PowerAction.CUT_OFF:
                self.on, self.changed_at, self.reported_at = False, now, now
        if step.action is not PowerAction.NOTHING:
            self.done.append(step.action)
        return step.action


class TestLife(base.TestCase):
    """One host over time."""

    def asleep(self, **settings: Any) -> Machine:
        machine = Machine(**settings)
        for now in range(-2000, 0, 30):
            machine.look(now, None)
        self.assertEqual([PowerAction.MARK, PowerAction.SHUT_DOWN], machine.done)
        self.assertEqual((False, ASLEEP), (machine.on, machine.reason))
        machine.done = []
        return machine

    def test_asleep_and_up_in_time(self) -> None:
        machine = self.asleep()
        for now in range(0, 1100, 10):
            machine.look(now, 1000)
        self.assertEqual([PowerAction.SWITCH_ON, PowerAction.ENABLE], machine.done)
        self.assertTrue(machine.ready)
        self.assertEqual((100.0,), machine.record.boots)
        # It has learned: a boot and the margin, rounded up.
        self.assertEqual(130, SETTINGS.lead(machine.record))

    @hypothesis.given(st.integers(-1900, 900), st.integers(1, 40), st.integers(20, 200))
    def test_whenever_it_is_booked_it_comes_up(self, booked: int, every: int, boots: int) -> None:
        machine = Machine(float(boots))
        for now in range(-2000, 3000, every):
            machine.look(now, 1000 if now >= booked else None)
        self.assertTrue(machine.ready)
        self.assertEqual((True, None), (machine.on, machine.reason))
        self.assertLessEqual(machine.done.count(PowerAction.SHUT_DOWN), 1)

    def test_woken_right_after_it_went_down_nova_is_not_believed(self) -> None:
        machine = Machine(100.0)
        for now in range(-640, 0, 30):
            machine.look(now, None)
        self.assertEqual((False, 'up'), (machine.on, machine.state(0)))
        began = None
        for now in range(0, 400, 5):
            machine.look(now, 10)
            began = now if machine.ready and began is None else began
        assert began is not None
        self.assertGreaterEqual(began, 75)

    def test_one_that_does_not_come_up_has_failed_and_is_tried_again(self) -> None:
        machine = self.asleep(obeys=False)
        for now in range(0, 4000, 10):
            machine.look(now, 500)
        self.assertEqual(deciding.FAILED, machine.reason)
        self.assertEqual(1, machine.done.count(PowerAction.GIVE_UP))
        self.assertFalse(machine.ready)
        self.assertGreater(machine.done.count(PowerAction.SWITCH_ON), 5)
        machine.obeys = True
        for now in range(4000, 5000, 10):
            machine.look(now, 500)
        self.assertEqual((True, None), (machine.ready, machine.reason))
        # What was no single boot teaches nothing.
        self.assertEqual((), machine.record.boots)

    def test_what_was_lost_with_a_file_is_mended(self) -> None:
        for reason, on in ((deciding.FAILED, False), (deciding.FAILED, True), (ASLEEP, True)):
            machine = Machine(20.0)
            machine.reason, machine.on = reason, on
            for now in range(0, 500, 5):
                machine.look(now, None, spare=False)
            self.assertEqual((True, None), (machine.ready, machine.reason), (reason, on))

    def test_switched_on_by_hand_it_stays_on(self) -> None:
        machine = self.asleep()
        machine.on, machine.changed_at = True, 0.0
        for now in range(0, 300, 10):
            machine.look(now, None)
        self.assertEqual([PowerAction.ENABLE], machine.done)
        self.assertEqual((), machine.record.boots)

    def test_one_that_does_not_shut_down_is_cut_off(self) -> None:
        record = PowerRecord(shutdown_at=after(-301), idle_since=after(-9999))
        one = view(service=service('up', ASLEEP), record=record)
        self.assertEqual(PowerAction.CUT_OFF, deciding.decide(one, SETTINGS).action)
        needed = view(service=service('up', ASLEEP), record=record, needed=after(10))
        self.assertEqual(PowerAction.ENABLE, deciding.decide(needed, SETTINGS).action)

    def test_what_others_disabled_or_switched_off_is_left_alone(self) -> None:
        disabled = view(service=service('down', 'a new fan'), on=False, needed=NOW)
        step = deciding.decide(disabled, SETTINGS)
        self.assertEqual((PowerAction.NOTHING, False), (step.action, step.ready))
        self.assertIn('a new fan', step.detail)
        off = view(service=service('down'), on=False)
        self.assertEqual(PowerAction.NOTHING, deciding.decide(off, SETTINGS).action)
        wanted = view(service=service('down'), on=False, needed=after(5))
        self.assertEqual(PowerAction.SWITCH_ON, deciding.decide(wanted, SETTINGS).action)

    def test_a_silent_nova_does_not_keep_what_we_put_to_sleep(self) -> None:
        ours = view(service=None, on=False, needed=NOW, record=PowerRecord(asleep_since=after(-9)))
        self.assertEqual(PowerAction.SWITCH_ON, deciding.decide(ours, SETTINGS).action)
        unknown = view(service=None, on=False, needed=NOW)
        self.assertEqual(PowerAction.NOTHING, deciding.decide(unknown, SETTINGS).action)
