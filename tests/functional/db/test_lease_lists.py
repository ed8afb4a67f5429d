# SPDX-License-Identifier: Apache-2.0
"""Leases as lists show them, compared with the objects that everything else uses."""

from __future__ import annotations

import dataclasses
import json
import uuid
from typing import Any

from hypothesis import given
from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st

from climate.api.http.microversions import HISTORY
from climate.api.http.microversions import Microversion
from climate.api.views.lease_writer import LeaseWriter
from climate.domain.events import EventKind
from climate.domain.leases import Lease
from climate.domain.leases import Readiness
from climate.domain.leases import Reservation
from climate.domain.lifecycles import ReservationStatus
from climate.domain.listed import ListedLease
from climate.domain.requests import LeaseQuery
from climate.plugins.host.plugin import PhysicalHost
from climate.plugins.instance.by_size import VirtualInstance
from tests import services
from tests.databases import fetch
from tests.functional import whole_leases
from tests.functional.db import cases
from tests.functional.db import plans

VERSIONS = [Microversion(*map(int, name.split('.'))) for name, _ in HISTORY]
PLUGINS = {one.resource_type: one for one in (PhysicalHost(), VirtualInstance())}
HOST = {'min': 1, 'max': 2, 'hypervisor_properties': '', 'resource_properties': '["=", "é", "1"]'}
INSTANCE = {'amount': 2, 'vcpus': 1, 'memory_mb': 1, 'disk_gb': 1, 'affinity': True}
REQUESTS = (
    ('physical:host', HOST),
    ('physical:host', {**HOST, 'before_end': 'snapshot'}),
    # These cannot be read by the plugin, or have none.
    ('physical:host', {'min': 1, 'unknown': {'draft': 'x'}}),
    ('virtual:instance', {**INSTANCE, 'resource_properties': '"draft"'}),
    ('virtual:gone', {}),
)
READINESS = Readiness(ready=('compute-1',), by='é', detail='"', at=cases.at(0))
# What a body can have, see climate.api.http.bodies.
TEXTS = st.text(st.characters(exclude_categories=('Cs',), exclude_characters='\0'), max_size=9)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | FINITE | TEXTS
VALUES = st.recursive(
    PLAIN, lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXTS, each, max_size=3)
)
ODD = st.fixed_dictionaries({'min': st.just(1), 'max': PLAIN, 'odd': VALUES})


def written(leases: list[Lease], version: Microversion) -> str:
    """Return objects that everything else uses as they are shown."""
    return LeaseWriter(PLUGINS, version).array(map(ListedLease.of, leases))


@services.on_each_engine(cases.StoreCase)
class Lists:
    """On one engine."""

    def setUp(self) -> None:
        super().setUp()
        self.add(cases.lease(name='plain', reservations=(), events=()))
        for number, (start, options) in enumerate(
            (
                (1.5, {}),
                (2, {'notices': ('started', 'error'), 'notify_before_start': (60, 5)}),
                (3, {'readiness': READINESS, 'before_end_date': cases.at(3.5), 'degraded': True}),
            )
        ):
            self.add_lease(f'"{number}" <é\\ \u2028', start, options)

    def add_lease(self, name: str, start: float, options: dict) -> None:
        lease_id = str(uuid.uuid4())
        reservations = [
            Reservation(
                id=str(uuid.uuid4()),
                lease_id=lease_id,
                resource_type=resource_type,
                request=request,
                position=position,
                status=ReservationStatus.ACTIVE if position % 2 else ReservationStatus.PENDING,
                facts={'aggregate_id': 7} if position else {},
                missing_resources=position == 1,
            )
            for position, (resource_type, request) in enumerate(REQUESTS)
        ]
        # Several at one instant, in the wrong order, and those that are not shown.
        kinds = [*reversed(EventKind), EventKind.NOTIFICATION, EventKind.BEFORE_START]
        events = [
            dataclasses.replace(
                cases.event(lease_id, kind, start + number % 3), id=str(uuid.uuid4())
            )
            for number, kind in enumerate(kinds)
        ]
        parts = {'reservations': tuple(reversed(reservations)), 'events': tuple(events)}
        self.add(cases.lease(start, start + 4, id=lease_id, name=name, **parts, **options))

    def listed(self, query: LeaseQuery, version: Microversion) -> str:
        found, _ = fetch(self.store, lambda tx: tx.lease_lists.page(query, 100))
        return LeaseWriter(PLUGINS, version).array(found)

    def test_the_text_is_that_of_the_objects(self) -> None:
        for sort in ((), (('start_date', 'desc'),)):
            query = LeaseQuery(project_id=None, sort=sort)
            with self.store.reading() as tx:
                whole = whole_leases.every(tx, query)
            self.assertEqual(4, len(whole))
            for version in VERSIONS:
                self.assertEqual(written(whole, version), self.listed(query, version))

    @settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.tuples(TEXTS, ODD, ODD), min_size=5, max_size=10))
    def test_odd_values(self, odd: list[tuple[str, Any, Any]]) -> None:
        """Names, requests and facts that databases and JSON may write in another way."""
        project_id = str(uuid.uuid4())
        for number, (name, request, facts) in enumerate(odd):
            reservation = Reservation(
                id=str(uuid.uuid4()),
                lease_id=f'{project_id[:30]}-{number}',
                resource_type=('physical:host', 'virtual:gone')[number % 2],
                request=request,
                facts=facts,
            )
            lease = cases.lease(
                id=reservation.lease_id,
                name=name,
                project_id=project_id,
                reservations=(reservation,),
                events=(),
            )
            self.add(lease)
        query = LeaseQuery(project_id=project_id)
        whole = fetch(self.store, lambda tx: whole_leases.every(tx, query))
        self.assertEqual(len(odd), len(whole))
        expected = written(whole, VERSIONS[-1])
        self.assertEqual(expected, self.listed(query, VERSIONS[-1]))
        for lease, shown in zip(whole, json.loads(expected), strict=True):
            self.assertEqual(lease.name, shown['name'])

    def test_one_lease(self) -> None:
        with self.store.reading() as tx:
            for lease in whole_leases.every(tx):
                with plans.captured(self.store.engine) as statements:
                    shown = tx.lease_lists.get(lease.id, lease.project_id)
                self.assertEqual(1, len(statements))
                text = LeaseWriter(PLUGINS, VERSIONS[0]).array([shown])
                self.assertEqual(written([lease], VERSIONS[0]), text)

    def test_pages(self) -> None:
        query = LeaseQuery(project_id=None)
        with self.store.reading() as tx:
            whole, more = tx.lease_lists.page(query, 100)
            self.assertFalse(more)
            first, more = tx.lease_lists.page(query, 3)
            self.assertTrue(more)
            rest, more = tx.lease_lists.page(query, 3, after=first[-1])
        self.assertFalse(more)
        self.assertEqual(whole, first + rest)

    def test_long_parts_are_complete(self) -> None:
        """MariaDB cuts aggregated texts off, by default at a megabyte."""
        large = {**HOST, 'resource_properties': 'x' * 400_000}
        lease_id = str(uuid.uuid4())
        reservations = tuple(
            Reservation(
                id=str(uuid.uuid4()),
                lease_id=lease_id,
                resource_type='physical:host',
                request=large,
                position=position,
            )
            for position in range(4)
        )
        self.add(cases.lease(1, 2, id=lease_id, reservations=reservations, events=()))
        found = fetch(self.store, lambda tx: tx.lease_lists.get(lease_id, None))
        self.assertEqual([large] * 4, [json.loads(one.request) for one in found.reservations])
