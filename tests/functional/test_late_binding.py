# SPDX-License-Identifier: Apache-2.0

"""Late binding: leases that are not firm get other hosts, if that makes room for another one."""

from __future__ import annotations

import datetime
from typing import Any

import hypothesis
import sqlalchemy as sa
from hypothesis import strategies as st

from climate.db.schema import tables
from climate.messaging import schemas
from climate.upkeep.planning import Planner
from tests import base
from tests import services
from tests.functional import fixtures
from tests.functional import http
from tests.functional import race_case

HOSTS = 4
DAY = datetime.datetime(2030, 1, 2, tzinfo=datetime.UTC)

# Two leases that lie badly: whatever is between them fits on no host.
FIRST, SECOND = (0, 2), (3, 5)
MIDDLE = (1, 4)


def dates(start: int, end: int) -> dict[str, str]:
    """Return the dates of a lease, in hours."""
    first, last = (DAY + datetime.timedelta(hours=hour) for hour in (start, end))
    return {'start_date': f'{first:%Y-%m-%dT%H:%M:%SZ}', 'end_date': f'{last:%Y-%m-%dT%H:%M:%SZ}'}


class Bookings(base.TestCase):
    """A service with four hosts."""

    kind = services.SQLITE

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service(database=self.kind))

    def send(self, method: str, path: str, body: Any = None) -> Any:
        return http.send(
            self.service.app, method, f'/v1/{path}', body,
            token='alice:blue:member', version='1.8',
        )  # fmt: skip

    def book(self, hosts: int, named: str = '', status: int = 201, **facts: Any) -> dict[str, Any]:
        one: dict[str, Any] = {'resource_type': 'physical:host', 'min': hosts, 'max': hosts}
        if named:
            one['resource_properties'] = f'["==", "$hypervisor_hostname", "{named}"]'
        answer = self.send('POST', 'leases', {'name': 'a', 'reservations': [one], **facts})
        assert answer.status_int == status, answer.text
        lease: dict[str, Any] = answer.json.get('lease', {})
        return lease

    def hosts(self, lease: dict[str, Any]) -> list[str]:
        shown = self.send('GET', f'leases/{lease["id"]}').json['lease']
        return sorted(one['name'] for each in shown['reservations'] for one in each['resources'])

    def lie_badly(self, **facts: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Book two leases so that nothing fits between them, though a host is always free."""
        self.book(HOSTS - 2, **dates(0, 5))
        first = self.book(1, **dates(*FIRST))
        (name,) = self.hosts(first)
        other = self.book(1, named=name, **dates(*SECOND))
        second = self.book(1, **dates(*SECOND), **facts)
        self.send('DELETE', f'leases/{other["id"]}')
        assert self.hosts(first) != self.hosts(second)
        return first, second

    def moves(self) -> list[str]:
        """Return the reasons in notifications of moves."""
        with self.service.store.reading() as tx:
            rows = [row for row in tx.outbox.unsent() if row.event_type == schemas.MOVED]
        return [row.payload['reason'] for row in rows]


@services.on_each_engine(Bookings, 'TestLateBinding')
class _LateBinding:
    def test_another_lease_gets_another_host(self) -> None:
        first, second = self.lie_badly()
        before = self.hosts(first), self.hosts(second)
        middle = self.book(1, **dates(*MIDDLE))
        after = self.hosts(first), self.hosts(second)
        self.assertEqual(1, sum(one != two for one, two in zip(before, after, strict=True)))
        self.assertEqual(after[0], after[1])
        self.assertNotEqual(after[0], self.hosts(middle))
        self.assertEqual(0, race_case.overlaps(self.service.store))
        moved = first if before[0] != after[0] else second
        had, has = (places[moved is second][0] for places in (before, after))
        text = f'has {has} instead of {had}, so that another lease finds room'
        self.assertEqual([text], self.moves())
        history = self.send('GET', f'leases/{moved["id"]}/history').json['history']
        self.assertIn(text, [line['text'] for step in history['steps'] for line in step['lines']])
        shown = self.send('GET', f'leases/{moved["id"]}').json['lease']
        self.assertEqual(moved['start_date'], shown['start_date'])

    def test_it_is_the_soonest_offer(self) -> None:
        self.lie_badly()
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        window = {'earliest': dates(*MIDDLE)['start_date'], 'duration': '3h'}
        body = {'reservations': [one], **window, 'latest': dates(0, 24)['end_date']}
        offer = self.send('POST', 'offers', body).json['offers'][0]
        self.assertEqual(window['earliest'], offer['start_date'])
        answer = self.send('POST', 'leases', {'name': 'a', 'offer_id': offer['id']})
        self.assertEqual(201, answer.status_int, answer.text)
        self.assertEqual(window['earliest'], answer.json['lease']['start_date'])
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_a_window_may_be_as_long_as_the_lease(self) -> None:
        self.lie_badly()
        window = {'earliest': dates(*MIDDLE)['start_date'], 'latest': dates(*MIDDLE)['end_date']}
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        body = {'reservations': [one], **window, 'duration': '3h'}
        (offer,) = self.send('POST', 'offers', body).json['offers']
        self.assertEqual(window['earliest'], offer['start_date'])
        lease = self.book(1, **window, duration='3h')
        self.assertEqual(window['earliest'], lease['start_date'])
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_a_flexible_lease_begins_sooner(self) -> None:
        self.lie_badly()
        lease = self.book(1, earliest=dates(*MIDDLE)['start_date'], duration='3h')
        self.assertEqual(dates(*MIDDLE)['start_date'], lease['start_date'])
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_a_plan_moves_a_lease_forward(self) -> None:
        first, second = self.lie_badly()
        whole = self.book(1, **dates(*MIDDLE))
        lease = self.book(1, earliest=dates(*MIDDLE)['start_date'], duration='3h')
        self.assertEqual(dates(4, 5)['start_date'], lease['start_date'])
        before = [self.hosts(one) for one in (first, second)]
        self.send('DELETE', f'leases/{whole["id"]}')
        planner = Planner(self.service.services.leases)
        self.assertEqual(1, planner.round())
        shown = self.send('GET', f'leases/{lease["id"]}').json['lease']
        self.assertEqual(dates(*MIDDLE)['start_date'], shown['start_date'])
        self.assertEqual(before, [self.hosts(one) for one in (first, second)])
        self.assertEqual(0, planner.round())

    def test_a_plan_knows_a_lease_that_changes_twice_at_one_instant(self) -> None:
        whole = self.book(HOSTS, **dates(0, 2))
        lease = self.book(1, earliest=dates(0, 1)['start_date'], duration='1h')
        path = f'leases/{lease["id"]}'
        self.assertEqual(200, self.send('PUT', path, {'name': 'b'}).status_int)
        self.service.replace_settings(rebind=False)
        planner = Planner(self.service.services.leases)
        self.assertEqual(0, planner.round())
        name = next(
            f'compute-{number}' for number in (1, 2) if self.hosts(lease) != [f'compute-{number}']
        )
        change = {
            'id': lease['reservations'][0]['id'],
            'resource_properties': f'["==", "$hypervisor_hostname", "{name}"]',
        }
        self.assertEqual(200, self.send('PUT', path, {'reservations': [change]}).status_int)
        self.send('DELETE', f'leases/{whole["id"]}')
        self.assertEqual(1, planner.round())
        self.assertEqual([name], self.hosts(lease))
        shown = self.send('GET', path).json['lease']
        self.assertEqual(dates(0, 1)['start_date'], shown['start_date'])

    def test_a_plan_gives_others_other_hosts(self) -> None:
        self.service.replace_settings(rebind=False)
        first, second = self.lie_badly()
        lease = self.book(1, earliest=dates(*MIDDLE)['start_date'], duration='3h')
        self.assertEqual(dates(2, 5)['start_date'], lease['start_date'])
        self.service.replace_settings(rebind=True)
        planner = Planner(self.service.services.leases)
        self.assertEqual(1, planner.round())
        shown = self.send('GET', f'leases/{lease["id"]}').json['lease']
        self.assertEqual(dates(*MIDDLE)['start_date'], shown['start_date'])
        self.assertEqual(self.hosts(first), self.hosts(second))
        self.assertEqual(0, planner.round())
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_a_lease_is_extended(self) -> None:
        first, second = self.lie_badly()
        answer = self.send('PUT', f'leases/{first["id"]}', {'end_date': dates(0, 4)['end_date']})
        self.assertEqual(200, answer.status_int, answer.text)
        self.assertNotEqual(self.hosts(first), self.hosts(second))
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_a_lease_is_extended_on_what_others_have_had(self) -> None:
        self.book(1, named='compute-4', **dates(0, 5))
        self.book(1, named='compute-3', **dates(0, 2))
        other = self.book(1, named='compute-1', **dates(0, 2))
        lease = self.book(1, **dates(0, 2))
        self.send('DELETE', f'leases/{other["id"]}')
        self.book(1, **dates(0, 3))
        other = self.book(1, named='compute-3', **dates(2, 4))
        self.book(1, **dates(2, 4))
        self.send('DELETE', f'leases/{other["id"]}')
        # Its host becomes free, but another gets it.
        answer = self.send('PUT', f'leases/{lease["id"]}', {'end_date': dates(0, 4)['end_date']})
        self.assertEqual(200, answer.status_int, answer.text)
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_an_active_lease_is_extended(self) -> None:
        lease = self.book(1, start_date='now', end_date=dates(0, 2)['end_date'])
        (name,) = self.hosts(lease)
        with self.service.store.engine.begin() as connection:
            connection.execute(sa.update(tables.LEASES).values(status='ACTIVE'))
        other = self.book(HOSTS - 1, **dates(2, 4))
        later = self.book(HOSTS - 1, **dates(5, 6))
        mine = self.hosts(lease)
        for booked in (other, later):
            self.assertEqual(HOSTS - 1, len(self.hosts(booked)))
        answer = self.send('PUT', f'leases/{lease["id"]}', {'end_date': dates(0, 6)['end_date']})
        self.assertEqual(200, answer.status_int, answer.text)
        self.assertEqual(mine, self.hosts(lease))
        self.assertNotIn(name, [*self.hosts(other), *self.hosts(later)])
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_named_hosts_stay(self) -> None:
        filler = self.book(HOSTS - 2, **dates(0, 5))
        names = {f'compute-{number}' for number in range(1, HOSTS + 1)} - {*self.hosts(filler)}
        first, second = (
            self.book(1, named=name, **dates(*there))
            for name, there in zip(sorted(names), (FIRST, SECOND), strict=True)
        )
        self.book(1, status=409, **dates(*MIDDLE))
        self.assertEqual(sorted(names), [*self.hosts(first), *self.hosts(second)])

    def test_firm_leases_stay(self) -> None:
        self.lie_badly()
        self.service.clock.move_to(DAY + datetime.timedelta(hours=-0.5))
        # The first one is firm. The second one moves.
        self.book(1, **dates(*MIDDLE))
        self.assertEqual(0, race_case.overlaps(self.service.store))

    def test_without_the_option_it_is_refused(self) -> None:
        self.service.replace_settings(rebind=False)
        self.lie_badly()
        self.book(1, status=409, **dates(*MIDDLE))

    def test_a_rehearsal_says_that_it_would_be_booked(self) -> None:
        self.lie_badly()
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        body = {'name': 'a', 'reservations': [one], **dates(*MIDDLE), 'dry_run': True}
        answer = self.send('POST', 'leases', body)
        self.assertEqual(200, answer.status_int, answer.text)
        self.assertEqual({'leases': [], 'others': 0}, answer.json['dry_run']['displaced'])
        self.assertEqual([], self.moves())


Booked = tuple[int, int, int]


def fits(start: int, end: int, hosts: int, booked: list[Booked]) -> bool:
    """Whether enough hosts are free at each instant, besides those of others."""
    return all(
        sum(more for first, last, more in booked if first <= hour < last) + hosts <= HOSTS
        for hour in range(start, end)
    )


_WANTED = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 8), st.integers(1, HOSTS - 1)),
    min_size=5,
    max_size=14,
)


class TestCounts(Bookings):
    """A lease is accepted exactly if enough hosts are free at each instant."""

    @hypothesis.settings(max_examples=25)
    @hypothesis.given(wanted=_WANTED)
    def test_counts(self, wanted: list[Booked]) -> None:
        booked: list[Booked] = []
        leases = []
        for start, length, hosts in wanted:
            end = start + length
            there = fits(start, end, hosts, booked)
            lease = self.book(hosts, status=201 if there else 409, **dates(start, end))
            if there:
                booked.append((start, end, hosts))
                leases.append(lease)
        for (_, _, hosts), lease in zip(booked, leases, strict=True):
            self.assertEqual(hosts, len(set(self.hosts(lease))))
        self.assertEqual(0, race_case.overlaps(self.service.store))
        for lease in leases:
            self.send('DELETE', f'leases/{lease["id"]}')

    @hypothesis.settings(max_examples=15)
    @hypothesis.given(wanted=_WANTED)
    def test_after_plans_no_lease_could_begin_sooner(self, wanted: list[Booked]) -> None:
        whole = self.book(HOSTS, **dates(0, 12))
        leases = [
            self.book(hosts, earliest=dates(first, first + 1)['start_date'], duration=f'{length}h')
            for first, length, hosts in wanted
        ]
        self.send('DELETE', f'leases/{whole["id"]}')
        planner = Planner(self.service.services.leases)
        while planner.round():
            self.assertEqual(0, race_case.overlaps(self.service.store))
        there = []
        for (_, length, hosts), lease in zip(wanted, leases, strict=True):
            shown = self.send('GET', f'leases/{lease["id"]}').json['lease']
            begun = datetime.datetime.fromisoformat(shown['start_date'])
            start = (begun - DAY) // datetime.timedelta(hours=1)
            there.append((start, start + length, hosts))
            self.send('DELETE', f'leases/{lease["id"]}')
        for place, ((first, length, hosts), (start, _, _)) in enumerate(
            zip(wanted, there, strict=True)
        ):
            others = [one for other, one in enumerate(there) if other != place]
            sooner = [at for at in range(first, start) if fits(at, at + length, hosts, others)]
            self.assertEqual([], sooner)
