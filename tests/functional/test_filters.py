# SPDX-License-Identifier: Apache-2.0

"""Every filter of every list, for every resource type."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from climate.api.http import queries
from climate.api.schemas import availability
from climate.api.schemas import calendar
from climate.api.schemas import queue
from climate.api.schemas import usage
from climate.api.schemas import webhooks
from climate.domain.lifecycles import LeaseStatus
from climate.domain.requests import RESOURCE_SORT_KEYS
from climate.domain.requests import SORT_KEYS
from climate.domain.resources import Resource
from tests import base
from tests import routes
from tests.functional import declared
from tests.functional import fixtures
from tests.functional import http
from tests.functional.db import cases

Row = dict[str, Any]
Test = Callable[[Row], bool]

CALENDAR = frozenset({'lease_id', 'reservation_id'})
PROPERTIES = frozenset({'detail', 'all', 'values'})
LISTS: Mapping[str, frozenset[str]] = {
    '/availability': availability.PARAMETERS,
    '/leases': queries.LEASES,
    '/resources': queries.RESOURCES,
    '/resources/allocations': CALENDAR | {'type'},
    '/resources/{resource_id}/allocations': CALENDAR,
    '/resources/properties': PROPERTIES | {'type'},
    '/os-hosts/allocations': CALENDAR,
    '/os-hosts/{host_id}/allocation': CALENDAR,
    '/os-hosts/properties': PROPERTIES,
    '/os-hosts': frozenset(),
    '/calendar': calendar.PARAMETERS,
    '/feeds': webhooks.PAGE,
    '/floatingips': frozenset(),
    '/maintenances': frozenset(),
    '/me': frozenset(),
    '/resource-types': frozenset(),
    '/queue': queue.PARAMETERS,
    '/usage': usage.PARAMETERS,
    '/webhooks': webhooks.PAGE,
}
"""What can be asked of the lists; the tests below ask for each."""


class FiltersTest(base.TestCase):
    """One resource and one lease of each type; each filter picks what it says."""

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service(hosts=0, types=declared.plugins().values()))
        self.types = sorted(self.service.plugins)
        for number, name in enumerate(self.types):
            self._put(number, name)
        self.leases = self.rows('/leases')
        self.resources = self.rows('/resources')
        self.calendar = self.rows('/resources/allocations')

    def _put(self, number: int, resource_type: str) -> None:
        """Write a resource of a type, with a property, and a lease that has it."""
        lease = cases.lease(
            number + 1,
            number + 2,
            name=f'lease-{number}',
            project_id=f'project-{number % 2}',
            status=list(LeaseStatus)[number % len(LeaseStatus)],
            created_at=cases.at(-number),
        )
        (reservation,) = lease.reservations
        made = Resource(
            resource_type=resource_type,
            name=f'{resource_type}-1',
            capabilities={'place': resource_type, 'hidden': 'yes'},
            created_at=cases.at(number),
        )

        def write(tx: Any) -> None:
            resource = tx.resources.insert(made)
            tx.properties.register(resource_type, ['place', 'hidden'])
            tx.properties.set_private(resource_type, 'hidden', True)
            tx.leases.insert(lease)
            tx.reservations.insert([dataclasses.replace(reservation, resource_type=resource_type)])
            cases.put(tx, [cases.allocation(reservation.id, resource, lease.period)])

        self.service.store.run(write)

    def rows(self, path: str, **parameters: Any) -> list[Row]:
        """Return what a list answers, page by page."""
        found: list[Row] = []
        address: str | None = f'/v1{path}?{urlencode(parameters, doseq=True)}'
        version = '1.8' if path == '/leases' else '1.3'
        while address:
            answer = http.expect(200, http.send(self.service.app, 'GET', address, version=version))
            links = [key for key in answer.json if key.endswith('_links')]
            (key,) = set(answer.json) - set(links)
            rows = answer.json[key]
            found += rows if isinstance(rows, list) else [rows]
            address = answer.json[links[0]][0]['href'] if links else None
        return found

    def picks(self, path: str, whole: list[Row], wanted: Test, **parameters: Any) -> None:
        """Check that a filter leaves what *wanted* says of the whole list."""
        expected = sorted(row['id'] for row in whole if wanted(row))
        found = sorted(row['id'] for row in self.rows(path, **parameters))
        self.assertEqual(expected, found, f'{path} {parameters}')

    def test_every_list_is_in_the_table(self) -> None:
        found = {
            route.path
            for route in routes.ALL
            if route.method == 'GET' and ('{' not in route.path or route.noun == 'allocations')
        }
        self.assertEqual(found, set(LISTS))

    def test_what_no_list_knows(self) -> None:
        every = frozenset().union(*LISTS.values()) | {'foo'}
        numbers = {'{resource_id}': '1', '{host_id}': self._number('physical:host')}
        for path, known in LISTS.items():
            for word, number in numbers.items():
                path = path.replace(word, number)
            for key in sorted(every - known):
                answer = http.send(self.service.app, 'GET', f'/v1{path}?{key}=1', version='1.8')
                self.assertEqual(400, answer.status_int, f'{path} {key}')
                self.assertIn(f'Unknown query parameter {key}', answer.text)

    def test_resources(self) -> None:
        for name in self.types:
            self.picks('/resources', self.resources, _is('resource_type', name), type=name)
            of_name = f'{name}-1'
            self.picks('/resources', self.resources, _is('name', of_name), name=of_name)
            both = {'type': name, 'name': of_name}
            self.picks('/resources', self.resources, _is('name', of_name), **both)
            self.picks('/resources', self.resources, lambda _: False, type=name, name='other')
        self._sorted('/resources', self.resources, RESOURCE_SORT_KEYS)

    def test_leases(self) -> None:
        for name in self.types:
            self.picks('/leases', self.leases, _of_type(name), resource_type=name)
        for key, values in (
            ('name', {row['name'] for row in self.leases}),
            ('project_id', {'project-0', 'project-1', 'project-2'}),
            ('user_id', {*(row['user_id'] for row in self.leases), 'none'}),
            ('status', set(LeaseStatus)),
        ):
            for value in values:
                self.picks('/leases', self.leases, _is(key, value), **{key: value})
        self._sorted('/leases', self.leases, SORT_KEYS)

    def test_times_of_leases(self) -> None:
        middle = _shown(cases.at(3))
        for word in ('start', 'end'):
            key = f'{word}_date'
            before = {f'{word}_before': middle}
            after = {f'{word}_after': middle}
            whole = self.leases
            self.picks('/leases', whole, lambda row, k=key: row[k] < middle, **before)
            self.picks('/leases', whole, lambda row, k=key: row[k] > middle, **after)

    def test_calendars(self) -> None:
        for name in self.types:
            number = self._number(name)
            own = [row for row in self.calendar if row['resource_id'] == number]
            self.assertEqual(own, self.rows('/resources/allocations', type=name))
            self.assertEqual(own, self.rows(f'/resources/{number}/allocations'))
            (busy,) = own[0]['reservations']
            for key, value in (('lease_id', busy['lease_id']), ('reservation_id', busy['id'])):
                only = [row if row in own else {**row, 'reservations': []} for row in self.calendar]
                self.assertEqual(only, self.rows('/resources/allocations', **{key: value}))
                both = {'type': name, key: value}
                self.assertEqual(own, self.rows('/resources/allocations', **both))
                self.assertEqual(own, self.rows(f'/resources/{number}/allocations', **{key: value}))
                none = [{**own[0], 'reservations': []}]
                wrong = {'type': name, key: 'other'}
                self.assertEqual(none, self.rows('/resources/allocations', **wrong))

    def test_calendars_of_hosts(self) -> None:
        number = self._number('physical:host')
        (host,) = self.rows('/os-hosts/allocations')
        self.assertEqual([host], self.rows(f'/os-hosts/{number}/allocation'))
        (busy,) = host['reservations']
        for path in ('/os-hosts/allocations', f'/os-hosts/{number}/allocation'):
            for key, value in (('lease_id', busy['lease_id']), ('reservation_id', busy['id'])):
                self.assertEqual([host], self.rows(path, **{key: value}))
                self.assertEqual([{**host, 'reservations': []}], self.rows(path, **{key: 'other'}))

    def test_properties(self) -> None:
        for name in self.types:
            paths = [('/resources/properties', {'type': name})]
            paths += [('/os-hosts/properties', {})] * (name == 'physical:host')
            for path, kind in paths:
                self.assertEqual([{'property': 'place'}], self.rows(path, **kind))
                both = self.rows(path, all='true', **kind)
                self.assertEqual(['hidden', 'place'], sorted(row['property'] for row in both))
                (detail,) = self.rows(path, detail='true', **kind)
                self.assertEqual(([name], False), (detail['values'], detail['private']))
                whole = self.rows(path, detail='true', all='true', **kind)
                self.assertEqual({False, True}, {row['private'] for row in whole})

    def _number(self, resource_type: str) -> str:
        (row,) = [row for row in self.resources if row['resource_type'] == resource_type]
        return str(row['id'])

    def _sorted(self, path: str, whole: list[Row], keys: tuple[str, ...]) -> None:
        for key in keys:
            for word, down in (('asc', False), ('desc', True)):
                found = self.rows(path, sort_key=key, sort_dir=word, limit=2)
                values = [int(row['id']) if _number_of(row, key) else row[key] for row in found]
                self.assertEqual(sorted(values, reverse=down), values, f'{path} {key} {word}')
                self.assertEqual(len(whole), len({row['id'] for row in found}))


def _number_of(row: Row, key: str) -> bool:
    return key == 'id' and row['id'].isdigit()


def _is(key: str, value: str) -> Test:
    return lambda row: bool(row[key] == value)


def _of_type(name: str) -> Test:
    return lambda row: any(one['resource_type'] == name for one in row['reservations'])


def _shown(instant: datetime.datetime) -> str:
    return instant.strftime('%Y-%m-%dT%H:%M:%SZ')
