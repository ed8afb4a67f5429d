# SPDX-License-Identifier: Apache-2.0

"""Managers that plan at once, while others create, change and delete leases of one host."""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import Any

import sqlalchemy as sa

from tests import base
from tests import drafts
from tests import services
from tests.functional import racers
from tests.functional.db import cases
from tests.functional.race_case import create
from tests.functional.race_case import RaceCase
from tests.functional.racers import Request

HOUR = datetime.timedelta(hours=1)
GREEN = 'bob:green:member'
PLAN = Request(method='PLAN', path='')
HEAL = Request(method='HEAL', path='')

# How many hosts each reservation has, and how many of them at other times than its lease.
_BOOKS = sa.text(
    """
    SELECT l.name, r.id, count(a.id) AS hosts,
        max(CASE WHEN r.missing_resources THEN 1 ELSE 0 END) AS missing,
        sum(CASE WHEN a.start_date <> l.start_date OR a.end_date <> l.end_date THEN 1 ELSE 0 END)
            AS elsewhere
    FROM leases l JOIN reservations r ON r.lease_id = l.id
        LEFT JOIN allocations a ON a.reservation_id = r.id AND a.state <> 'released'
    WHERE l.deleted_at IS NULL AND l.status = 'PENDING' AND l.firm_at IS NOT NULL
    GROUP BY l.name, r.id
    """
)


def flexible(name: str, hours: int = 1) -> Request:
    """Return a request for one host, as soon as it is free."""
    return Request(
        method='POST',
        path='/v1/leases',
        version='1.8',
        body={
            'name': name,
            'earliest': 'now',
            'duration': f'{hours}h',
            'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
        },
    )


def two_hosts(name: str) -> Request:
    """Return a request for two hosts, in two reservations, that is never firm too early."""
    request = flexible(name)
    (one,) = request.body['reservations']
    body = {**request.body, 'reservations': [one, one], 'earliest': later(4).isoformat()}
    return dataclasses.replace(request, body=body)


def later(hour: int) -> datetime.datetime:
    """Return the instant so many whole hours from now."""
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hour)
    return now.replace(minute=0, second=0, microsecond=0)


def hold() -> Request:
    """Return a request to hold an offer of one host for an hour."""
    body = {
        'reservations': [{'resource_type': 'physical:host', 'min': 1, 'max': 1}],
        'duration': '1h',
        'earliest': later(4).isoformat(),
        'hold': '120s',
        'limit': 1,
    }
    return Request(method='POST', path='/v1/offers', body=body, version='1.8')


def reallocate(lease: dict[str, Any]) -> Request:
    """Return a request to replace the host of a reservation, as it was when it was booked."""
    one = lease['reservations'][0]
    (host,) = one['resources']
    body = {'reservation_id': one['id'], 'resource_id': str(host['id'])}
    path = f'/v1/leases/{lease["id"]}/reallocate'
    return Request(method='POST', path=path, body=body, version='1.8')


def maintenance(host: int, hour: int) -> Request:
    """Return a request to maintain a host for an hour."""
    times = {'start_date': later(hour).isoformat(), 'end_date': later(hour + 1).isoformat()}
    body = {'resource_id': str(host), **times, 'reason': 'a'}
    return Request(method='POST', path='/v1/maintenances', body=body, version='1.8')


def disable(host: int, disabled: bool) -> Request:
    """Return a request to close a host to bookings, or to open it."""
    return Request(
        method='PUT', path=f'/v1/resources/{host}', body={'disabled': disabled}, version='1.8'
    )


def soon(hour: int) -> Request:
    """Return a request for one host for an hour that begins so many hours from now."""
    start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hour)
    end = start + datetime.timedelta(hours=1)
    one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
    dates = {'start_date': start.isoformat(), 'end_date': end.isoformat()}
    body = {'name': f'fixed {hour}', **dates, 'reservations': [one]}
    return Request(method='POST', path='/v1/leases', body=body)


@services.on_each_engine(base.TestCase)
class _PlannerRaces(RaceCase):
    """Sixteen processes, half of which plan."""

    def test_no_hour_is_given_twice(self) -> None:
        wanted = [flexible(f'flexible {number}') for number in range(racers.COUNT)]
        found = self.racers.answers([[one] for one in wanted])
        self.assertEqual([], [one.body for (one,) in found if one.status != 201])
        self.assertEqual(0, self.overlaps())
        plans = [[PLAN] * 4 for _ in range(8)]
        changes = [[*self.changes(number), PLAN] for number in range(4)]
        late = [[flexible(f'late {number}'), PLAN] for number in range(4)]
        answers = self.racers.race([*plans, *changes, *late])
        self.assertEqual([[204, 200]] * 4, [found[:2] for found in answers[8:12]])
        self.assertEqual(0, self.overlaps())
        # The next plans find nothing that the last one could have moved.
        (found,) = self.racers.answers([[PLAN] * 20])
        self.assertEqual('0', found[-1].body)
        self.assertEqual(0, self.overlaps())

    def test_fixed_leases_displace_while_others_plan(self) -> None:
        for number in range(2, 5):
            self.registrar.register_resource(drafts.host(f'compute-{number}'))
        wanted = [flexible(f'flexible {number}', hours=3) for number in range(racers.COUNT)]
        found = self.racers.answers([[one] for one in wanted])
        self.assertEqual([], [one.body for (one,) in found if one.status != 201])
        before = self.lease_ids()
        # The first leases begin at once, and are firm.
        hours = [soon(number + 4) for number in range(6)]
        fixed = [[hours[number], hours[(number + 3) % 6]] for number in range(6)]
        plans = [[PLAN] * 3 for _ in range(4)]
        late = [[flexible(f'late {number}'), PLAN] for number in range(6)]
        answers = self.racers.race([*fixed, *plans, *late])
        self.assertEqual(0, self.overlaps())
        self.assertEqual([201] * 12, [one for found in answers[:6] for one in found])
        # Those that were displaced still have a host.
        self.assertEqual(before, {name: self.lease_ids()[name] for name in before})
        self.assertEqual(2 * 6 + len(before) + 6, len(self.booked()))

    def test_each_waiting_lease_is_booked_once(self) -> None:
        ((fixed,),) = self.racers.answers([[soon(2)]])
        self.assertEqual(201, fixed.status)
        taken = json.loads(fixed.body)['lease']
        window = {'earliest': taken['start_date'], 'latest': taken['end_date'], 'wait': True}
        wanted = [flexible(f'waiting {number}') for number in range(8)]
        for one in wanted:
            one.body.update({**window, 'duration': '10m'})
        gone = Request(method='DELETE', path=f'/v1/leases/{taken["id"]}')
        plans = [[PLAN] * 3 for _ in range(7)]
        answers = self.racers.race([[gone], *([one] for one in wanted), *plans])
        self.assertEqual([[204], *[[201]] * 8], answers[:9])
        self.racers.answers([[PLAN] * 3])
        self.assertEqual(0, self.overlaps())
        # Five or six times ten minutes fit, as the first start is a whole minute or not.
        self.assertIn(len(self.booked()), (5, 6))

    def test_running_slices_yield_once(self) -> None:
        for number in range(2, 5):
            self.registrar.register_resource(drafts.host(f'compute-{number}'))
        wanted = [flexible(f'slice {number}', hours=8) for number in range(4)]
        for one in wanted:
            one.body.update(preemptible=True, min_duration='1h', **{'yield': 'end'})
        found = self.racers.answers([[dataclasses.replace(one, token=GREEN)] for one in wanted])
        self.assertEqual([], [one.body for (one,) in found if one.status != 201])
        self.run_all()
        hours = [soon(number % 6 + 1) for number in range(12)]
        late = [
            [dataclasses.replace(flexible(f'late {number}'), token=GREEN)] for number in range(2)
        ]
        answers = self.racers.race([*([one] for one in hours), *late, [PLAN] * 3, [PLAN] * 3])
        self.assertEqual([[201]] * 14, answers[:14])
        self.assertEqual(0, self.overlaps())
        # Of four hosts, two are needed at a time: the others keep theirs.
        self.assertEqual(4 + 12 + 2, len(self.booked()))
        lasts = sorted(end - start for _, start, end in self.booked() if end - start > HOUR)
        self.assertGreaterEqual(len([one for one in lasts if one == 8 * HOUR]), 1)

    def test_what_is_left_of_running_slices_is_held_once(self) -> None:
        for number in range(2, 5):
            self.registrar.register_resource(drafts.host(f'compute-{number}'))
        wanted = [flexible(f'slice {number}', hours=4) for number in range(4)]
        for one in wanted:
            one.body.update(preemptible=True, latest='2031-01-01T00:00:00Z', **{'yield': 'requeue'})
        found = self.racers.answers([[dataclasses.replace(one, token=GREEN)] for one in wanted])
        self.assertEqual([], [one.body for (one,) in found if one.status != 201])
        self.run_all()
        hours = [soon(number % 6 + 1) for number in range(12)]
        answers = self.racers.race([*([one] for one in hours), *([[PLAN] * 3] * 4)])
        self.assertEqual([[201]] * 12, answers[:12])
        self.assertEqual(0, self.overlaps())
        # Two hosts are needed at a time. What begins again is held with its whole length.
        lasts = [round((end - start) / HOUR) for _, start, end in self.booked()]
        self.assertEqual((18, 4), (len(lasts), lasts.count(4)), lasts)

    def run_all(self) -> None:
        """Have all leases run that have begun."""
        tables = cases.migration.metadata().tables
        leases, held = tables['leases'], tables['allocations']
        with self.store.engine.begin() as connection:
            connection.execute(sa.update(leases).values(status='ACTIVE', firm_at=None))
            connection.execute(sa.update(leases).values(firm_at=leases.c.start_date))
            connection.execute(sa.update(tables['reservations']).values(status='active'))
            connection.execute(sa.update(held).values(state='held'))

    def test_all_others_get_in_the_way(self) -> None:
        """Holds, reallocations, maintenances, disabled hosts and healing, with two reservations."""
        for number in range(2, 5):
            self.registrar.register_resource(drafts.host(f'compute-{number}'))
        wanted = [two_hosts(f'flexible {number}') for number in range(racers.COUNT)]
        found = self.racers.answers([[one] for one in wanted])
        self.assertEqual([], [one.body for (one,) in found if one.status != 201])
        leases = [json.loads(one.body)['lease'] for (one,) in found]
        gone = [Request(method='DELETE', path=f'/v1/leases/{one["id"]}') for one in leases[:2]]
        others = [
            [hold(), hold(), PLAN],
            [hold(), *map(reallocate, leases[6:10])],
            [*map(reallocate, leases[2:6]), PLAN],
            [maintenance(2, 3), HEAL, PLAN, HEAL],
            [maintenance(3, 5), HEAL, PLAN, HEAL],
            [disable(4, True), HEAL, disable(4, False), PLAN],
            [gone[0], PLAN, HEAL, PLAN],
            [gone[1], PLAN, HEAL, PLAN],
            [two_hosts('late'), PLAN],
            [two_hosts('later'), HEAL],
        ]
        self.racers.race([*others, *([[PLAN] * 4] * 6)])
        self.assertEqual([], self.wrong_books())
        (found,) = self.racers.answers([[HEAL, *[PLAN] * 20]])
        self.assertEqual('0', found[-1].body)
        self.assertEqual([], self.wrong_books())

    def wrong_books(self) -> list[tuple[Any, ...]]:
        """Return what does not add up: hosts taken twice, and leases with other hosts and times."""
        with self.store.engine.connect() as connection:
            rows = connection.execute(_BOOKS).all()
        wrong: list[tuple[Any, ...]] = [('twice', self.overlaps())] if self.overlaps() else []
        wrong += [tuple(row) for row in rows if row.hosts != 1 and not row.missing]
        return wrong + [tuple(row) for row in rows if row.elsewhere]

    def changes(self, number: int) -> list[Request]:
        """Return requests that delete one lease, lengthen another, and book an hour."""
        ids = self.lease_ids()
        gone, longer = (f'/v1/leases/{ids[f"flexible {one}"]}' for one in (number, number + 4))
        return [
            Request(method='DELETE', path=gone),
            Request(method='PUT', path=longer, body={'duration': '2h'}, version='1.8'),
            create(number, number + 1),
        ]
