# SPDX-License-Identifier: Apache-2.0
"""How many SQL statements a request takes, whatever there is already.

BEGIN and COMMIT are not counted.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

from testtools import content

from climate.booking.leases import Leases
from climate.domain.requests import Caller
from climate.domain.requests import LeaseDraft
from climate.domain.resources import Spread
from climate.leases.settings import LeasingSettings
from climate.plugins.host import plugin as host_plugin
from tests import base
from tests import services
from tests.databases import fetch
from tests.functional import bodies
from tests.functional import bulk
from tests.functional import bulk_parts
from tests.functional import http
from tests.functional import whole_leases
from tests.functional.db import cases
from tests.functional.db import plans
from tests.functional.fixtures import Service
from tests.functional.manager import slots
from tests.functional.manager import yard

MOST_OF_A_CREATE = 10
MOST_OF_SLOTS = 13
# One for each batch of a list without a limit, of which two are read first.
MOST_OF_A_LIST = 2


@services.on_each_engine(base.TestCase)
class Counts:
    """A service on an engine; ``tests/exhaustive/test_statement_counts.py`` takes the full one."""

    sizes: tuple[tuple[int, int], ...] = ((10, 0), (1000, 3000))
    """``(hosts, earlier leases)``, each added to what was there before."""
    part_sizes: tuple[tuple[int, int], ...] = ((60, 0), (1000, 4000))
    """``(hosts, earlier allocations)``, where hosts are used in parts."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(Service(hosts=0, database=self.kind))

    def count(self, method: str, path: str, body: object = None) -> int:
        """Return how many statements a request takes, the third time it is sent.

        The first times, a process finds out which resources there are.
        """
        for _ in range(3):
            with plans.captured(self.service.store.engine) as statements:
                answer = http.send(self.service.app, method, path, body, version='1.1')
            self.assertIn(answer.status_int, (200, 201), answer.text)
        return len(statements)

    def create(self) -> int:
        """Return how many statements it takes to create a lease of one host."""
        return self.count(
            'POST',
            '/v1/leases',
            bodies.lease('one', '2031-05-01T12:00:00Z', '2031-05-01T13:00:00Z', bodies.hosts()),
        )

    def test_what_there_is_already_costs_no_statement(self) -> None:
        creates, lists = {}, {}
        now = self.service.clock.now()
        for hosts, leases in self.sizes:
            cases.empty(self.service.store.engine)
            load = bulk.Load(hosts=hosts, allocations=leases, group=1, now=now)
            load.fill(self.service.store.engine)
            # Only a test replaces rows by others with the same ids and generations.
            self.service.store.timelines.forget()
            creates[hosts, leases] = self.create()
            lists[hosts, leases] = self.count('GET', '/v1/leases?limit=5')
        report = f'{self.kind}: creates {creates}, lists {lists}'
        self.addDetail('statements', content.text_content(report))
        self.assertEqual(1, len(set(creates.values())), creates)
        self.assertLessEqual(max(creates.values()), MOST_OF_A_CREATE, creates)
        self.assertEqual(1, len(set(lists.values())), lists)
        self.assertLessEqual(max(lists.values()), MOST_OF_A_LIST, lists)

    def booked(self, reservations: list[dict[str, Any]], status: int) -> int:
        """Return how many statements a lease of several reservations takes."""
        body = bodies.lease('many', '2031-05-01T12:00:00Z', '2031-05-01T13:00:00Z', *reservations)
        with plans.captured(self.service.store.engine) as statements:
            answer = http.send(self.service.app, 'POST', '/v1/leases', body, version='1.1')
        self.assertEqual(status, answer.status_int, answer.text)
        return len(statements)

    def test_what_cannot_be_had_costs_no_more(self) -> None:
        """However many reservations of a lease find nothing, and though each asks otherwise."""
        now = self.service.clock.now()
        bulk.Load(hosts=19, allocations=0, group=1, now=now).fill(self.service.store.engine)
        one = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        own = [
            {**one, 'hypervisor_properties': f'[">=", "$memory_mb", "{number}"]'}
            for number in range(20)
        ]
        refused = [self.booked(own, 409), self.booked([one] * 20, 409)]
        accepted = [self.booked(own[:19], 201)]
        cases.empty(self.service.store.engine)
        bulk.Load(hosts=19, allocations=0, group=1, now=now).fill(self.service.store.engine)
        accepted.append(self.booked([one] * 19, 201))
        self.addDetail('statements', content.text_content(f'{self.kind}: {refused} {accepted}'))
        # The twentieth has a search of its own, the reasons for the refusal, and a look for leases
        # that could give way, yield, or have other resources, unless nothing has changed since.
        for number, other in zip(refused, accepted, strict=True):
            self.assertLessEqual(number, other + 7, (refused, accepted))

    def test_a_list_without_a_limit_takes_no_more(self) -> None:
        now = self.service.clock.now()
        bulk.Load(hosts=20, allocations=400, group=1, now=now).fill(self.service.store.engine)
        self.assertEqual(400, fetch(self.service.store, lambda tx: len(whole_leases.ids(tx))))
        self.assertLessEqual(self.count('GET', '/v1/leases'), MOST_OF_A_LIST)

    def test_slots_cost_no_more_than_hosts(self) -> None:
        """Whatever there is already, and however many slots are wanted."""
        now = self.service.clock.now()
        leases = Leases(
            self.service.store,
            {slots.RESOURCE_TYPE: slots.Slots()},
            self.service.clock,
            LeasingSettings(),
            lambda: None,
            random.Random(5),
        )
        counted: dict[tuple[int, int, int, str], int] = {}
        for hosts, rows in self.part_sizes:
            cases.empty(self.service.store.engine)
            bulk_parts.Parts(hosts=hosts, allocations=rows, now=now).fill(self.service.store.engine)
            # Only a test replaces rows by others with the same ids and generations.
            self.service.store.timelines.forget()
            # As a process does before its first response.
            with self.service.store.reading() as tx:
                tx.timeline(host_plugin.RESOURCE_TYPE)
            for day, (wanted, spread) in enumerate(itertools.product((1, 50), Spread)):
                draft = LeaseDraft(
                    name='slots',
                    start=now + (24 * day + 6) * bulk.HOUR,
                    end=now + (24 * day + 8) * bulk.HOUR,
                    reservations=(yard.parts(wanted, bulk_parts.DEMAND, spread=spread),),
                )
                with plans.captured(self.service.store.engine) as statements:
                    leases.create(Caller(user_id='u', project_id='p'), draft)
                counted[hosts, rows, wanted, spread.value] = len(statements)
        self.addDetail('statements', content.text_content(f'{self.kind}: {counted}'))
        self.assertLessEqual(max(counted.values()), MOST_OF_SLOTS, counted)
