# SPDX-License-Identifier: Apache-2.0

"""Races for hosts of leases that move, get other hosts or yield, each in days of its own."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import itertools
import json
import re
import threading
from collections.abc import Iterator
from collections.abc import Sequence
from concurrent import futures
from typing import Any

import sqlalchemy as sa

from tests import drafts
from tests.exhaustive.races import records
from tests.functional.race_case import RaceCase
from tests.functional.racers import Answer
from tests.functional.racers import Request

HOSTS = 4
GREEN = 'bob:green:member'
PLAN = Request(method='PLAN', path='')
OPTIONS = {
    'planner.firm_before': 0,
    'planner.yield_notice': 0,
    'planner.yield_seconds': ['physical:host=1'],
    'manager.prepare_lead_time': 0.0,
    # A busy machine refuses none.
    'allocation.request_transaction_seconds': 60.0,
    'allocation.request_processor_seconds': 60.0,
}
# What each reservation should have, and has.
_BOOKS = sa.text(
    """
    SELECT l.name, l.status, l.start_date, l.end_date, l.options, r.request, r.missing_resources,
        a.resource_id, a.start_date AS since, a.end_date AS until
    FROM leases l JOIN reservations r ON r.lease_id = l.id
        LEFT JOIN allocations a ON a.reservation_id = r.id AND a.state <> 'released'
    WHERE l.deleted_at IS NULL
    """
).columns(
    start_date=sa.DateTime(), end_date=sa.DateTime(), since=sa.DateTime(), until=sa.DateTime()
)
_IN_HAND = sa.text(
    """
    SELECT resource_id, count(*) FROM allocations WHERE state = 'held'
    GROUP BY resource_id HAVING count(*) > 1
    """
)
_MOVES = sa.text("SELECT payload FROM outbox WHERE event_type = 'lease.moved'")


class PlannerScenarios(RaceCase):
    """Four hosts, and as many of the sixteen processes as a race wants."""

    options = OPTIONS

    def setUp(self) -> None:
        super().setUp()
        for number in range(2, HOSTS + 1):
            self.registrar.register_resource(drafts.host(f'compute-{number}'))
        now = datetime.datetime.now(datetime.UTC)
        self.midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        self.days = itertools.count(2)
        self.day = 0

    # -- requests

    def at(self, hour: float) -> str:
        """Return the instant so many hours into the day of the race."""
        instant = self.midnight + datetime.timedelta(days=self.day, hours=hour)
        return f'{instant:%Y-%m-%dT%H:%M:%SZ}'

    def book(self, hosts: int, start: float, end: float, **facts: Any) -> Request:
        """Return a request for hosts between two hours."""
        dates = {'start_date': self.at(start), 'end_date': self.at(end)}
        return _create(hosts, **{**dates, **facts})

    def window(self, hosts: int, length: int, start: float, end: float, **facts: Any) -> Request:
        """Return a request for hosts for some hours between two hours."""
        times = {'earliest': self.at(start), 'latest': self.at(end), 'duration': f'{length}h'}
        return _create(hosts, **times, **facts)

    def offered(self, hosts: int, start: float, end: float) -> Request:
        """Return a request to take the first offer of hosts between two hours."""
        one = {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}
        body = {
            'reservations': [one],
            'duration': f'{(end - start) * 60:.0f}m',
            'earliest': self.at(start),
            'latest': self.at(end),
        }
        ask = Request(method='POST', path='/v1/offers', body=body, version='1.8')
        (offer, *_) = self.one(ask, 200)['offers']
        taken = {'name': f'taken {next(_names)}', 'offer_id': offer['id']}
        return Request(method='POST', path='/v1/leases', body=taken, version='1.8')

    def one(self, request: Request, status: int = 201) -> Any:
        """Send one request; return the body of the answer."""
        ((answer,),) = self.racers.answers([[request]])
        assert answer.status == status, answer.body
        return json.loads(answer.body) if answer.body.startswith('{') else answer.body

    def lease(self, request: Request) -> Any:
        """Return a lease that is booked."""
        return self.one(request)['lease']

    def race(self, wanted: Sequence[Sequence[Request]], *codes: int) -> list[list[Answer]]:
        """Race, and check the answers and the books."""
        answers = self.racers.answers(wanted)
        found = {one.status: one.body for mine in answers for one in mine}
        self.assertEqual({}, {key: found[key] for key in found.keys() - {200, *codes}})
        self.assertEqual([], list(self.wrong()))
        return answers

    def booked_by(self, answers: Sequence[Sequence[Answer]]) -> int:
        """Return how many leases were booked."""
        return sum(one.status == 201 for mine in answers for one in mine)

    # -- the judge

    def wrong(self) -> Iterator[Any]:
        """Yield what does not add up."""
        with self.store.engine.connect() as connection:
            yield from records.overbooked(records.read(connection))
            yield from connection.execute(_IN_HAND).all()
            leases = collections.defaultdict(list)
            for row in connection.execute(_BOOKS):
                leases[row.name].append(row)
        for name, rows in leases.items():
            yield from ((name, *row) for row in rows if _is_elsewhere(row))
            (first, *_) = rows
            has = {row.resource_id for row in rows} - {None}
            books = first.status in ('PENDING', 'STARTING', 'ACTIVE')
            if len(has) != (json.loads(first.request)['min'] if books else 0):
                yield name, first.status, has

    def moves(self, lease: Any) -> list[list[str]]:
        """Return between which starts a lease has moved, later ones first, as its owner hears."""
        with self.store.engine.connect() as connection:
            rows = [json.loads(row.payload) for row in connection.execute(_MOVES)]
        mine = [row['reason'] for row in rows if row['lease_id'] == lease['id']]
        return [re.findall(r'\d{4}-\S+Z', reason) for reason in mine]

    # -- races

    def rebinds(self, *names: str) -> None:
        """Some want what is free only if others get other hosts."""
        self.day = next(self.days)
        self.lease(self.book(HOSTS - 2, 0, 5))
        first = self.lease(self.book(1, 0, 2))
        second = self._elsewhere(first)
        ways = {
            'create': self.book(1, 1, 4, name=f'middle {self.day}'),
            'create too': self.book(1, 1, 4, name=f'middle too {self.day}'),
            'extend': _put(first, end_date=self.at(4)),
            'advance': _put(second, start_date=self.at(1)),
            'delete': Request(method='DELETE', path=f'/v1/leases/{second["id"]}'),
            'flexible': self.window(1, 3, 1, 4, name=f'flexible {self.day}'),
        }
        if 'take' in names:
            ways['take'] = self.offered(1, 1, 4)
        wanted = [[ways[name]] if name != 'plan' else [PLAN] * 3 for name in names]
        answers = self.race(wanted, 201, 204, 404, 409)
        # A request that got less than there is gets it now.
        gone = {name for name, (one, *_) in zip(names, answers, strict=True) if one.status < 300}
        level = self._most(1, 4)
        for name in {'create', 'create too'} & {*names} - gone:
            answer = self.racers.answers([[ways[name]]])[0][0]
            self.assertEqual(201 if level < HOSTS else 409, answer.status, answer.body)
            level = self._most(1, 4)
        self.assertEqual([], list(self.wrong()))

    def displaces(self, takers: int) -> None:
        """Some take offers of the place of leases that move."""
        self.day = next(self.days)
        for number in range(HOSTS):
            self.lease(self.window(1, 2, 0, 12, name=f'moves {self.day} {number}'))
        same = self.offered(1, 0, 2)
        answers = self.race([[same]] * takers, 201, 409)
        self.assertEqual(1, self.booked_by(answers))
        offers = [[self.offered(1, 0, 2)] for _ in range(takers)]
        answers = self.race([*offers, *([[PLAN] * 3] * (takers // 4))], 201, 404, 409)
        self.assertEqual(min(takers, HOSTS - 1), self.booked_by(answers))

    def plans(self, planners: int) -> None:
        """Planners move the same leases at once: each moves as if there were one planner."""
        self.day = next(self.days)
        fixed = self.lease(self.book(HOSTS, 0, 12))
        names = [f'forward {self.day} {number}' for number in range(8)]
        leases = [self.lease(self.window(2, 2, 0, 48, name=name)) for name in names]
        self.one(Request(method='DELETE', path=f'/v1/leases/{fixed["id"]}'), 204)
        before = {one['id']: len(self.moves(one)) for one in leases}
        self.race([[PLAN] * 3] * planners)
        self.one(PLAN, 200)
        for number, one in enumerate(leases):
            shown = self.one(
                Request(method='GET', path=f'/v1/leases/{one["id"]}', version='1.8'), 200
            )
            self.assertEqual(self.at(2 * (number // 2)), shown['lease']['start_date'])
            told = self.moves(one)[before[one['id']] :]
            steps = [one['start_date'], *(start for start, _ in told)]
            self.assertEqual([[new, old] for old, new in itertools.pairwise(steps)], told)
            self.assertEqual(shown['lease']['start_date'], steps[-1])
        self.day = next(self.days)

    def changes(self, changers: int) -> None:
        """Leases become longer and shorter, in the place of those that move."""
        self.day = next(self.days)
        fixed = [
            self.lease(self.book(1, 0, 2, name=f'fixed {self.day} {number}'))
            for number in range(changers)
            if number < HOSTS
        ]
        for number in range(HOSTS):
            self.lease(self.window(1, 2, 0, 24, name=f'moves {self.day} {number}'))
        wanted = [
            [_put(lease, end_date=self.at(hour)) for hour in (4, 1, 3 + number % 3)]
            for number, lease in zip(range(changers - changers // 4), itertools.cycle(fixed))
        ]
        # One of a lease may see that another has changed it.
        self.race([*wanted, *([[PLAN] * 3] * (changers // 4))], 409)
        for lease in fixed:
            self.one(_put(lease, end_date=self.at(4)), 200)
        self.assertEqual([], list(self.wrong()))

    def yields(self, racers: int) -> None:
        """Leases begin while slices yield to them, with as many managers as processes."""
        names = [f'slice {number}' for number in range(HOSTS)]
        facts = {'earliest': 'now', 'duration': '2h', 'preemptible': True}
        for name in names:
            self.lease(_create(1, token=GREEN, name=name, **facts))
        work = Request(method='WORK', path='0.5')
        self.one(work, 200)
        self.assertEqual(['ACTIVE'] * HOSTS, [self.statuses()[name] for name in names])
        now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
        start, end = (now + datetime.timedelta(seconds=more) for more in (4, 7))
        dates = {'start_date': f'{start:%FT%TZ}', 'end_date': f'{end:%FT%TZ}'}
        fixed = [f'begins {number}' for number in range(racers)]
        wanted = [
            [_create(1, name=name, **dates), *[PLAN, Request(method='WORK', path='1')] * 5]
            for name in fixed
        ]
        with futures.ThreadPoolExecutor(1) as pool, self._held_once(pool):
            answers = self.race(wanted, 201, 409)
        # One that comes when its start is too close for the notice is refused.
        booked = self.booked_by(answers)
        self.assertIn(booked, range(1, min(racers, HOSTS) + 1))
        self.racers.answers([[Request(method='WORK', path='3'), PLAN, work]] * racers)
        self.assertEqual([], list(self.wrong()))
        states = self.statuses()
        self.assertEqual(['TERMINATED'] * booked, [states[one] for one in fixed if one in states])
        # What has yielded is to go on.
        self.assertLessEqual({states[name] for name in names}, {'PENDING', 'ACTIVE'})

    def statuses(self) -> dict[str, str]:
        """Return the status of each lease."""
        with self.store.engine.connect() as connection:
            rows = connection.execute(sa.text('SELECT name, status FROM leases'))
            return {row.name: row.status for row in rows}

    @contextlib.contextmanager
    def _held_once(self, pool: futures.Executor) -> Iterator[None]:
        """Look again and again whether two leases hold one host."""
        over = threading.Event()

        def look() -> list[Any]:
            found: list[Any] = []
            while not found and not over.wait(0.05):
                with self.store.engine.connect() as connection:
                    found = [tuple(row) for row in connection.execute(_IN_HAND)]
            return found

        looks = pool.submit(look)
        try:
            yield
        finally:
            over.set()
        self.assertEqual([], looks.result())

    def _elsewhere(self, first: Any) -> Any:
        """Return a lease of three hours that follows another, but on another host."""
        (host,) = first['reservations'][0]['resources']
        other = self.book(1, 3, 5)
        name = f'["==", "$hypervisor_hostname", "{host["name"]}"]'
        other.body['reservations'][0]['resource_properties'] = name
        gone = self.lease(other)
        second = self.lease(self.book(1, 3, 5))
        self.one(Request(method='DELETE', path=f'/v1/leases/{gone["id"]}'), 204)
        return second

    def _most(self, start: float, end: float) -> int:
        """Return how many hosts are taken at most at an instant between two hours."""
        first, last = (
            (self.midnight + datetime.timedelta(days=self.day, hours=hour)).replace(tzinfo=None)
            for hour in (start, end)
        )
        with self.store.engine.connect() as connection:
            rows = records.read(connection).within(first, last).rows
        instants = {first, *(row.start for row in rows if row.start > first)}
        return max(sum(row.start <= one < row.end for row in rows) for one in instants)


_names = itertools.count()


def _create(hosts: int, token: str = '', **facts: Any) -> Request:
    one = {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}
    body = {'name': f'lease {next(_names)}', 'reservations': [one], **facts}
    request = Request(method='POST', path='/v1/leases', body=body, version='1.8')
    return dataclasses.replace(request, token=token) if token else request


def _put(lease: Any, **dates: str) -> Request:
    return Request(method='PUT', path=f'/v1/leases/{lease["id"]}', body=dates, version='1.8')


def _is_elsewhere(row: Any) -> bool:
    """Whether an allocation is not when its lease is, or the lease not in its window."""
    window = [json.loads(row.options).get(name) for name in ('earliest', 'latest')]
    first, last = (
        one and datetime.datetime.fromisoformat(one).replace(tzinfo=None) for one in window
    )
    late = last is not None and row.end_date > last
    early = first is not None and row.start_date < first
    away = row.since is not None and (row.since, row.until) != (row.start_date, row.end_date)
    return bool(late or early or (away and row.status == 'PENDING'))
