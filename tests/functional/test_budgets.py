# SPDX-License-Identifier: Apache-2.0

"""One budget for each request: what it may cost in all, whatever it asks for.

Each SQL statement that a search runs takes a tenth of a second here, by the clock of the
service, which does not move otherwise. So statements are counted, and no time is measured.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from fixtures import MonkeyPatch

from climate.allocation import placement
from climate.booking.choosing import matching
from climate.leases.settings import LeasingSettings
from climate.testing import service as serving
from tests.functional import http
from tests.functional.db import plans
from tests.functional.test_holds import HoldsCase
from tests.functional.test_offers import HOSTS
from tests.functional.test_offers import PERIOD
from tests.functional.test_offers import SLOTS

SETTINGS = LeasingSettings()
# Those of the token, of idempotency keys, of timelines, of the offers that are stored and so on.
BESIDES = 30
MANY = 20


def text(place: int, conditions: int = 3) -> str:
    """Return requirements that every host meets, and that are different each time."""
    parts = [['>=', '$vcpus', str(place / 100)]]
    parts += [['!=', '$rack', f'{place}-{number}'] for number in range(conditions - 1)]
    return json.dumps(['and', *parts])


def hosts(number: int = MANY, conditions: int = 3, **facts: Any) -> list[dict[str, Any]]:
    """Return reservations of hosts with different requirements."""
    one = {**HOSTS, **facts}
    return [{**one, 'resource_properties': text(place, conditions)} for place in range(number)]


def slots(number: int = MANY, **facts: Any) -> list[dict[str, Any]]:
    """Return reservations of instances with different requirements."""
    one = {**SLOTS, 'amount': 1, 'vcpus': 1, **facts}
    return [{**one, 'resource_properties': text(place)} for place in range(number)]


class BudgetsCase(HoldsCase):
    """A service whose statements take long while a request spends its budget."""

    def setUp(self) -> None:
        super().setUp()
        self.start()

    @contextlib.contextmanager
    def slow(self, seconds: float = 0.1) -> Iterator[list[plans.Statement]]:
        """Let each statement take some time; return those that ran."""

        def wait(*_: Any) -> None:
            self.service.clock.advance(seconds)

        engine = self.service.store.engine
        sa.event.listen(engine, 'before_cursor_execute', wait)
        try:
            with plans.captured(engine) as statements:
                yield statements
        finally:
            sa.event.remove(engine, 'before_cursor_execute', wait)

    def cost(self, method: str, path: str, body: Any) -> tuple[Any, int]:
        """Return the answer to a request, and how many statements it took."""
        with self.slow() as statements:
            answer = self.send(method, path, body)
        return answer, len(statements)

    def check(self, method: str, path: str, body: Any, *status: int) -> Any:
        """Check that a request ends, and that it is its budget that ends it."""
        most = SETTINGS.processor_seconds * 10 + BESIDES
        answer, count = self.cost(method, path, body)
        self.assertIn(answer.status_int, status, answer.text)
        self.assertLess(count, most)
        with MonkeyPatch('climate.domain.budgets.RequestBudget.left', property(lambda _: 1.0)):
            _, free = self.cost(method, path, body)
        self.assertGreater(free, count)
        return answer.json

    def check_refused(self, method: str, path: str, body: Any) -> None:
        """Check that a request is refused because it costs too much."""
        found = self.check(method, path, body, 400)
        self.assertEqual('REQUIREMENTS_TOO_SLOW', found['error_name'], found)


class TestEveryRequest(BudgetsCase):
    """Each request that searches."""

    def refused(self) -> list[dict[str, Any]]:
        """Return reservations of whole hosts that are refused after a long search."""
        rows = matching.rows

        def slow(*facts: Any) -> Any:
            self.service.clock.advance(0.1)
            return rows(*facts)

        self.useFixture(MonkeyPatch('climate.booking.choosing.matching.rows', slow))
        return [*hosts(MANY - 1), {**HOSTS, 'min': 4, 'max': 4}]

    def test_a_rehearsal(self) -> None:
        self.check_refused('POST', 'leases', self.lease(self.refused(), dry_run=True))

    def test_a_create(self) -> None:
        self.check_refused('POST', 'leases', self.lease(self.refused()))

    def test_instances(self) -> None:
        both = [*slots(MANY - 1), *slots(1, vcpus=64)]
        self.check_refused('POST', 'leases', self.lease(both, dry_run=True))

    def test_placements(self) -> None:
        both = slots(placement={'spread': [{'property': 'rack'}]})
        self.check_refused('POST', 'leases', self.lease(both, dry_run=True))

    def test_offers(self) -> None:
        for more in ({}, {'prefer': 'cheapest'}, {'prefer': 'same', 'property': 'rack'}):
            wanted = {'reservations': hosts(), 'duration': '2h', 'limit': 10, **more}
            wanted['earliest'] = PERIOD['start_date']
            self.check('POST', 'offers', wanted, 200, 400)

    def test_changes(self) -> None:
        made = self.send('POST', 'leases', self.lease(hosts(4))).json['lease']
        grown = [
            {'id': one['id'], 'resource_properties': text(place + 50)}
            for place, one in enumerate(made['reservations'])
        ]
        change = {'reservations': grown, 'end_date': '2030-02-02T02:00:00Z', 'dry_run': True}
        with self.slow() as statements:
            answer = self.send('PUT', f'leases/{made["id"]}', change)
        self.assertEqual(400, answer.status_int, answer.text)
        self.assertEqual('REQUIREMENTS_TOO_SLOW', answer.json['error_name'])
        self.assertLess(len(statements), SETTINGS.processor_seconds * 10 + BESIDES)
        self.assertEqual(200, self.send('PUT', f'leases/{made["id"]}', change).status_int)

    def test_a_page_of_the_calendar(self) -> None:
        http.expect(201, self.send('POST', 'leases', self.lease(hosts(4))))
        page = 'calendar?resource_type=physical:host&end=2030-03-01T00:00:00Z'

        def show() -> Any:
            return serving.send(self.service, 'GET', f'/v1/{page}', version='1.5')

        self.assertEqual(200, show().status_int)
        for seconds, reads_bars in ((SETTINGS.processor_seconds, False), (0.22, True)):
            with self.slow(seconds) as statements:
                answer = show()
            self.assertEqual(400, answer.status_int, seconds)
            self.assertEqual('REQUIREMENTS_TOO_SLOW', answer.json['error_name'])
            bars = [one for one in statements if 'allocations.amount' in one.text]
            self.assertEqual(reads_bars, bool(bars), seconds)
            self.assertFalse([one for one in statements if 'FROM maintenances' in one.text])

    def test_the_alternatives_have_what_is_left(self) -> None:
        """A refusal that has cost nearly all of the budget looks for few alternatives."""
        four = self.lease([{**HOSTS, 'min': 4, 'max': 4}])
        self.assertEqual(201, self.send('POST', 'leases', four).status_int)
        found = self.check('POST', 'leases', self.lease(hosts(3)), 409)
        self.assertEqual('NOT_ENOUGH_RESOURCES', found['error_name'])


class TestSteps(BudgetsCase):
    """A placement asks what is left before each step that takes as long as the cloud is large."""

    def test_each_property_and_reservation(self) -> None:
        asked = []

        def processor() -> float:
            asked.append(1)
            return 0.0

        def place(*_: Any, **__: Any) -> placement.Unplaced:
            return placement.Unplaced(place=0, proven=True)

        self.useFixture(MonkeyPatch('climate.allocation.placement.place', place))
        self.service.clock.processor = processor
        counts = []
        for names in (1, 9):
            spread = [{'property': f'p{number}'} for number in range(names)]
            both = [{**HOSTS, 'placement': {'spread': spread}} for _ in range(2)]
            asked.clear()
            self.send_in_vain('POST', 'leases', self.lease(both, dry_run=True), 400)
            counts.append(len(asked))
        self.assertGreaterEqual(counts[1] - counts[0], 8)


class TestConditions(BudgetsCase):
    """The conditions of all reservations of a request together."""

    def many(self, number: int = 6) -> list[dict[str, Any]]:
        """Return reservations with a hundred conditions each."""
        return hosts(number, 100)

    def check_early(self, method: str, path: str, body: Any) -> None:
        """Check that a request is refused before a search."""
        with plans.captured(self.service.store.engine) as statements:
            found = self.send_in_vain(method, path, body, 400)
        self.assertEqual('REQUIREMENTS_TOO_SLOW', found['error_name'])
        self.assertIn('more than 500 comparisons and traits', found['error_message'])
        self.assertEqual([], [one for one in statements if one.text.count('EXISTS') > 5])

    def test_of_a_new_lease(self) -> None:
        self.check_early('POST', 'leases', self.lease(self.many()))
        self.check_early('POST', 'leases', self.lease(self.many(), dry_run=True))
        self.check_early('POST', 'leases', self.lease(self.many(20), dry_run=True))

    def test_of_offers(self) -> None:
        wanted = {'reservations': self.many(), 'duration': '2h'}
        self.check_early('POST', 'offers', wanted)
        self.check_early('POST', 'offers', {**wanted, 'hold': '60s'})

    def test_as_many_as_allowed(self) -> None:
        found = self.send_in_vain('POST', 'leases', self.lease(self.many(5), dry_run=True), 409)
        self.assertEqual('NOT_ENOUGH_RESOURCES', found['error_name'])

    def test_of_both_fields(self) -> None:
        both = [
            {**one, 'hypervisor_properties': one['resource_properties']} for one in self.many(3)
        ]
        self.check_early('POST', 'leases', self.lease(both))

    def test_of_a_change(self) -> None:
        lease = self.lease([dict(SLOTS) for _ in range(6)])
        answer = http.expect(201, self.send('POST', 'leases', lease))
        ids = [one['id'] for one in answer.json['lease']['reservations']]
        path = f'leases/{answer.json["lease"]["id"]}'
        more = [{'id': key, 'resource_properties': text(7, 100)} for key in ids]
        self.check_early('PUT', path, {'reservations': more})
        self.check_early('PUT', path, {'reservations': more, 'dry_run': True})
        for one in more[:5]:
            self.assertEqual(200, self.send('PUT', path, {'reservations': [one]}).status_int)
        self.check_early('PUT', path, {'reservations': more[5:]})
        # One with fewer, though it has more than are allowed elsewhere.
        fewer = [{**more[0], 'resource_properties': text(7, 99)}]
        self.assertEqual(200, self.send('PUT', path, {'reservations': fewer}).status_int)
