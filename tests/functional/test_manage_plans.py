# SPDX-License-Identifier: Apache-2.0

"""``climate-manage plan``: what the planner does, and why."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.periods import Period
from climate.domain.placements import MemberPlacement
from climate.domain.yield_times import YieldTime
from climate.metrics import catalogue
from climate.metrics import recording
from climate.metrics.catalogue import MetricSpec
from climate.testing.deployment import CALLER
from climate.upkeep.maintenances import Maintenances
from climate.upkeep.planning import Planner
from tests import drafts
from tests import services
from tests.functional import bodies
from tests.functional.test_manage_leases import HOUR
from tests.functional.test_manage_leases import ManageCase


class _Recorder:
    """Keeps what is observed."""

    def __init__(self) -> None:
        self.moves: list[tuple[str, float]] = []

    def count(self, *_facts: Any) -> None:
        pass

    set = count

    def observe(self, metric: MetricSpec, labels: Sequence[str], value: float) -> None:
        if metric is catalogue.MOVES:
            self.moves.append((labels[0], value))


class TestPlans(ManageCase):
    """Four hosts, and leases that compete for them."""

    def lease(self, hosts: int, start: datetime.datetime, **facts: Any) -> Lease:
        now = self.tick()
        draft = drafts.lease(
            start, start + HOUR, bodies.hosts(hosts), asked_at=now, strict=True, **facts
        )
        return self.site.leases.create(CALLER, draft)

    def flexible(self, hosts: int, start: datetime.datetime, **facts: Any) -> Lease:
        return self.lease(hosts, start, earliest=start, **facts)

    def noon(self) -> datetime.datetime:
        """Return an instant in two days."""
        day = self.tick() + datetime.timedelta(days=2)
        return day.replace(hour=12, minute=0, second=0, microsecond=0)

    def test_show(self) -> None:
        self.assertEqual([], self.manage(0, 'plan', 'show'))
        noon = self.noon()
        self.lease(4, noon)
        soon = self.flexible(2, noon, name='soon')
        waits = self.flexible(1, noon, latest=noon + HOUR, waits=True, name='waits')
        lines = self.document(0, 'plan', 'show')
        self.assertEqual([soon.id, waits.id], [one['id'] for one in lines])
        self.assertEqual(['PENDING', 'WAITING'], [one['status'] for one in lines])
        self.assertEqual([1, 2], [one['place'] for one in lines])
        end = f'{noon + HOUR:%Y-%m-%dT%H:%M:%SZ}'
        self.assertEqual([end, None], [one['forecast'] for one in lines])
        self.assertEqual(f'1 physical:host until {end}', lines[1]['waits_for'])
        self.assertEqual(1, len(self.document(0, 'plan', 'show', '--limit', '1')))
        self.assertEqual([], self.document(0, 'plan', 'show', '--type', 'virtual:instance'))

    def assumed(self) -> list[tuple[Any, ...]]:
        """Return how long hosts take to yield."""
        columns = ('mode', 'seconds', 'source', 'known')
        lines = self.document(0, 'plan', 'yields')
        hosts = (one for one in lines if one['resource_type'] == 'physical:host')
        return [tuple(one[name] for name in columns) for one in hosts]

    def test_yields(self) -> None:
        self.assertEqual([(None, 120, 'default', 0)], self.assumed())
        for seconds in (30, 10, 20, 90, 40):
            time = YieldTime(units=2, seconds=seconds)
            key = ('physical:host', YieldMode.REQUEUE)
            self.site.store.run(lambda tx, key=key, time=time: tx.yield_times.add(*key, time))
        self.assertEqual([('requeue', 90, 'learnt', 5)], self.assumed())
        self.assertIn('learnt', self.manage(0, 'plan', 'yields')[1])

    def test_run(self) -> None:
        noon = self.noon()
        fixed = self.lease(4, noon)
        soon = self.flexible(2, noon)
        self.assertRegex(self.manage(0, 'plan', 'run')[0], '^0 leases were moved')
        self.site.leases.delete(CALLER, fixed.id, None)
        self.assertRegex(self.manage(0, 'plan', 'run')[0], '^1 leases were moved')
        self.assertEqual(noon, self.site.leases.get(soon.id, None).period.start)

    def test_explain(self) -> None:
        noon = self.noon()
        fixed = self.lease(4, noon)
        soon = self.flexible(2, noon)
        found = self.document(0, 'plan', 'explain', soon.id)
        self.assertEqual('Too little is free at an earlier start.', found['why'])
        self.assertEqual(
            ['compute-1', 'compute-2', 'compute-3', 'compute-4'],
            [one['resource'] for one in found['blockers']],
        )
        self.assertEqual({fixed.id}, {one['lease_id'] for one in found['blockers']})
        self.assertEqual(
            {f'{noon:%Y-%m-%dT%H:%M:%SZ}'}, {one['start'] for one in found['blockers']}
        )
        self.assertIsNotNone(found['blockers'][0]['since'])
        self.manage(0, 'plan', 'explain', soon.id)
        waits = self.flexible(1, noon, latest=noon + HOUR, waits=True)
        found = self.document(0, 'plan', 'explain', waits.id)
        self.assertEqual('There is room only after its window.', found['why'])
        self.site.leases.delete(CALLER, fixed.id, None)
        found = self.document(0, 'plan', 'explain', waits.id)
        self.assertEqual(
            'There is room: the next plan books it, unless a limit forbids it.', found['why']
        )
        self.manage(1, 'plan', 'explain', fixed.id)
        closure = MaintenanceDraft(
            period=Period(start=noon, end=noon + HOUR),
            resource_type='physical:host',
            resource_name='compute-1',
        )
        Maintenances(self.site.store, lambda: None).create(CALLER, closure)
        all_hosts = self.flexible(4, noon)
        (found,) = self.document(0, 'plan', 'explain', all_hosts.id)['blockers']
        self.assertEqual(
            ['compute-1', 'maintenance', None],
            [found[key] for key in ('resource', 'status', 'lease_id')],
        )
        other = self.lease(1, noon)
        line = self.manage(1, 'plan', 'explain', other.id)[0]
        self.assertIn('fixed start', line)

    def test_a_placement_cannot_be_forecast(self) -> None:
        noon = self.noon()
        self.lease(4, noon)
        now = self.tick()
        parts = bodies.hosts(1), bodies.hosts(1)
        apart = (MemberPlacement(apart_from=('1',)), None)
        draft = drafts.lease(
            noon, noon + HOUR, *parts, asked_at=now, strict=True, earliest=noon,
            latest=noon + HOUR, waits=True, placements=apart,
        )  # fmt: skip
        lease = self.site.leases.create(CALLER, draft)
        self.assertEqual('WAITING', lease.status)
        found = self.document(0, 'plan', 'explain', lease.id)
        self.assertRegex(found['why'], '^Its start cannot be forecast')
        self.assertIsNone(found['room_at'])

    def test_what_is_measured(self) -> None:
        recorder = _Recorder()
        recording.use(recorder)
        self.addCleanup(recording.use)
        noon = self.noon()
        soon = self.flexible(4, noon)
        fixed = self.lease(1, noon)
        self.site.leases.delete(CALLER, fixed.id, None)
        self.assertEqual(1, Planner(self.site.leases).round())
        self.assertEqual(noon, self.site.leases.get(soon.id, None).period.start)
        self.assertEqual([('displaced', 3600.0), ('room', 3600.0)], recorder.moves)


class TestPlansOnMariadb(TestPlans):
    """The same on MariaDB."""

    KIND = services.MARIADB


class TestPlansOnPostgresql(TestPlans):
    """The same on PostgreSQL."""

    KIND = services.POSTGRESQL
