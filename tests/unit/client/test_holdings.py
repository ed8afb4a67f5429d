# SPDX-License-Identifier: Apache-2.0

"""What one has with a lease, in words."""

from __future__ import annotations

import importlib.metadata
import types
from typing import Any
from unittest import mock

from openstack import exceptions as sdk_exceptions
from osc_lib import exceptions

from climate.client import nouns
from climate.client import words
from climate.client.osc import amounts
from climate.client.osc import deletion
from climate.client.osc import holdings
from climate.client.osc import leases
from climate.client.osc import prefixes
from climate.client.sdk.leases import Lease
from tests import base

HOSTS: dict[str, Any] = {
    'id': '11111111-64f0-4c0e-9a55-1f3c9d7be210',
    'resource_type': 'physical:host',
    'status': 'active',
    'min': 1,
    'max': 2,
    'resource_properties': '[">=", "$vcpus", "8"]',
    'resources': [{'id': '3', 'name': 'compute-3'}, {'id': '4', 'name': 'compute-4'}],
    'resources_count': 2,
    'instructions': [{'name': 'a', 'title': 'Create a server', 'command': 'x --y', 'value': ''}],
}
LICENCE: dict[str, Any] = {
    'id': '22222222-64f0-4c0e-9a55-1f3c9d7be210',
    'resource_type': 'custom:licence',
    'amount': 21,
    'resources': {'SEAT': 1},
    'allocated': [
        {'name': 'cae', 'resources': {'SEAT': 21}, 'properties': {'server': '27000@cae.example'}}
    ],
}
SERVERS: dict[str, Any] = {
    'id': '33333333-64f0-4c0e-9a55-1f3c9d7be210',
    'resource_type': 'virtual:instance',
    'amount': 1,
    'vcpus': 4,
    'memory_mb': 8192,
    'disk_gb': 0,
}


def lease(*reservations: dict[str, Any], status: str = 'ACTIVE') -> Any:
    """Return a lease with these reservations."""
    return Lease(
        id='a',
        name='a',
        status=status,
        start_date='2030-01-01T09:00:00Z',
        reservations=[dict(each) for each in reservations],
    )


class HeldResourcesTest(base.TestCase):
    """Names, requirements, sizes, and what operators announce."""

    def test_lines(self) -> None:
        for reservation, expected in (
            (
                HOSTS,
                ['1-2 hosts active', f'  {HOSTS["id"]}', '  where vcpus >= 8',
                 '  on compute-3, compute-4'],
            ),
            (
                LICENCE,
                ['21 licence', f'  {LICENCE["id"]}',
                 '  cae: SEAT=21, server=27000@cae.example'],
            ),
            (
                SERVERS,
                ['1 server', f'  {SERVERS["id"]}', '  each 4 VCPU, 8192 MiB of memory'],
            ),
            ({'resource_type': 'network'}, ['network']),
            (
                {**SERVERS, 'flavor_id': SERVERS['id'], 'allocated': [{'name': 'a'}]},
                ['1 server', f'  {SERVERS["id"]}', '  each 4 VCPU, 8192 MiB of memory'],
            ),
            ({'resource_type': 'physical:host', 'resource_properties': 'x'},
             ['host', '  where x']),
        ):  # fmt: skip
            self.assertEqual(expected, list(holdings.lines(reservation)))

    def test_many_resources(self) -> None:
        names = [{'id': str(each), 'name': f'compute-{each}'} for each in range(150)]
        *_, last = holdings.lines({**HOSTS, 'resources': names, 'resources_count': 1200})
        self.assertTrue(last.endswith('compute-99 and 1100 more'), last)

    def test_instructions(self) -> None:
        found = holdings.instructions([HOSTS, {**HOSTS, 'id': 'b'}, LICENCE])
        self.assertEqual(HOSTS['instructions'], found)
        self.assertEqual('Create a server:\n  x --y', holdings.written(found[0]))
        self.assertEqual('Id:\n  5', holdings.written({'title': 'Id', 'command': '', 'value': '5'}))
        self.assertEqual('Wait', holdings.written({'title': 'Wait', 'command': ''}))

    def test_instructions_before_the_start(self) -> None:
        found = holdings.written(HOSTS['instructions'][0], 'PENDING')
        self.assertEqual('Create a server, once the lease is active:\n  x --y', found)

    def test_an_older_service_has_allocations(self) -> None:
        class Proxy:
            def allocations(self, **query: str) -> Any:
                if query['type'] != 'physical:host':
                    raise sdk_exceptions.ForbiddenException
                items = [{'id': HOSTS['id']}]
                found = {'resource_id': '3', 'resource_name': 'compute-3', 'reservations': items}
                yield types.SimpleNamespace(**found)

        proxy: Any = Proxy()
        plain = {'id': HOSTS['id'], 'resource_type': 'physical:host'}
        found = holdings.completed(proxy, lease(plain, LICENCE))
        names = [holdings.resource_names(each) for each in found.reservations]
        self.assertEqual([['compute-3'], []], names)
        self.assertEqual({'SEAT': 1}, found.reservations[1]['resources'])
        whole = lease(HOSTS)
        self.assertEqual(whole, holdings.completed(proxy, whole))

    def test_events(self) -> None:
        events = [
            {'time': f'2030-01-0{at}', 'event_type': kind, 'status': status}
            for at, kind, status in (
                (1, 'before_start_lease', 'DONE'), (2, 'before_start_lease', 'UNDONE'),
                (3, 'before_start_lease', 'UNDONE'), (4, 'start_lease', 'UNDONE'),
                (5, 'notification', 'UNDONE'), (6, 'end_lease', 'UNDONE'),
            )
        ]  # fmt: skip
        shown = [each['time'][-1] for each in words.for_people(events, 'time')]
        self.assertEqual(['2', '4', '6'], shown)
        self.assertEqual(['1'], [e['time'][-1] for e in words.for_people(events[:1], 'time')])
        self.assertEqual(
            ['start', 'odd', 'scheduled', 'ACTIVE'],
            [words.event('start_lease'), words.event('odd'),
             words.state('UNDONE'), words.state('ACTIVE')],
        )  # fmt: skip

    def test_nouns(self) -> None:
        self.assertEqual('1 host', nouns.counted('1', 'physical:host'))
        self.assertEqual('1-4 hosts', nouns.counted('1-4', 'physical:host'))
        self.assertEqual('1 licence', nouns.counted('1', 'custom:licence'))
        self.assertEqual('2 odd:type', nouns.counted('2', 'odd:type'))

    def test_nouns_of_the_service(self) -> None:
        self.assertFalse(nouns.known('custom:mouse'))
        nouns.learn('custom:mouse', 'mice', 'mouse')
        nouns.learn('custom:box', 'boxes')
        self.assertTrue(nouns.known('custom:mouse'))
        self.assertEqual('1 mouse', nouns.counted('1', 'custom:mouse'))
        self.assertEqual('2 mice', nouns.counted('2', 'custom:mouse'))
        self.assertEqual('boxes', nouns.plural('custom:box'))


class DryRunOutputTest(base.TestCase):
    """What a lease would book."""

    def test_amounts(self) -> None:
        def amount(kind: str, resources: int, **classes: int) -> dict[str, Any]:
            return {'resource_type': kind, 'resources': resources, 'classes': classes}

        found = [amount('physical:host', 2), amount('virtual:instance', 1, VCPU=8, MEMORY_MB=1024)]
        wanted = {'name': 'a', 'start_date': None, 'end_date': None}
        shown = leases.rehearsed({'lease': wanted, 'reservations': found, 'filters_not_asked': []})
        self.assertEqual('2 hosts\nservers: 1024 MEMORY_MB, 8 VCPU', shown['resources'])


class DeletionEffectTest(base.TestCase):
    """The question names what is lost."""

    def test_effects(self) -> None:
        for found, expected in (
            (
                lease(HOSTS),
                "This ends 'a' (1-2 hosts) and deletes all servers on compute-3 and compute-4.",
            ),
            (
                lease(HOSTS, SERVERS),
                "This ends 'a' (1-2 hosts, 1 server) and deletes all servers on compute-3 and "
                'compute-4 and releases its other resources.',
            ),
            (
                lease({**HOSTS, 'resources': []}),
                "This ends 'a' (1-2 hosts) and deletes all servers on its hosts.",
            ),
            (lease(SERVERS), "This ends 'a' (1 server) and releases its resources."),
            (
                lease(HOSTS, status='TERMINATED'),
                "This removes 'a', which has ended, from the list.",
            ),
        ):
            self.assertEqual(expected, deletion.effect(found))
        pending = deletion.effect(lease(HOSTS, status='PENDING'))
        self.assertRegex(pending, r"This cancels 'a' \(1-2 hosts\), which starts 20")


class ChangedAmountsTest(base.TestCase):
    """Each change finds its reservation."""

    def test_by_type_or_id(self) -> None:
        both = lease(HOSTS, SERVERS)
        for wanted, expected in (
            (
                {'resource_type': 'physical:host', 'min': 1, 'max': 1},
                [{'id': HOSTS['id'], 'max': 1}],
            ),
            ({'id': '3333', 'amount': 2}, [{'id': SERVERS['id'], 'amount': 2}]),
            ({'resource_type': 'virtual:instance', 'amount': 1}, []),
        ):
            self.assertEqual(expected, amounts.changes(both, [wanted]))
        alone = amounts.changes(lease(HOSTS), [{'resource_properties': ''}])
        self.assertEqual([{'id': HOSTS['id'], 'resource_properties': ''}], alone)

    def test_what_distinguishes_reservations(self) -> None:
        small = {'id': 'a1', 'resource_type': 'flavor:instance', 'flavor_id': '1', 'amount': 1}
        large = {'id': 'b2', 'resource_type': 'flavor:instance', 'flavor_id': '2', 'amount': 1}
        wanted = {'resource_type': 'flavor:instance', 'flavor_id': '2', 'amount': 3}
        found = amounts.changes(lease(small, large), [wanted])
        self.assertEqual([{'id': 'b2', 'amount': 3}], found)

    def test_what_is_not_clear(self) -> None:
        both = lease(HOSTS, {**HOSTS, 'id': '4444'})
        host = {'resource_type': 'physical:host', 'min': 1, 'max': 1}
        for found, wanted, text in (
            (both, [host], 'several reservations'),
            (lease(SERVERS), [host], 'has no hosts; it has servers'),
            (lease(HOSTS), [host, host], 'Two changes'),
        ):
            self.assert_error(exceptions.CommandError, text, amounts.changes, found, wanted)


class IdBeginningsTest(base.TestCase):
    """Unique beginnings of ids will do."""

    def test_beginnings(self) -> None:
        all_of_them = [Lease(id=each['id']) for each in (HOSTS, LICENCE, SERVERS)]
        self.assertEqual(LICENCE['id'], prefixes.whole(all_of_them, '2222', 'lease'))
        self.assertEqual(HOSTS['id'], prefixes.whole([], HOSTS['id'], 'lease'))
        again = [*all_of_them, Lease(id='2222aaaa')]
        for text, expected in (
            ('2222', 'Several leases have an ID that begins with 2222: 2222'),
            ('22', "There is no lease '22'"),
            ('2229', "There is no lease '2229'"),
            ('name', "There is no lease 'name'"),
        ):
            error = self.assertRaises(exceptions.CommandError, prefixes.found, again, text, 'lease')
            self.assertIn(expected, str(error))


class FoundByNameTest(base.TestCase):
    """A lease that has ended does not compete for its name with one that has not."""

    def found(self, *states: str) -> str:
        """Return the id that a name stands for, if leases with it have these states."""
        named = [
            Lease(id=str(number), name='a', status=state, start_date='2030-01-01T09:00:00Z')
            for number, state in enumerate(states)
        ]
        proxy = mock.Mock()
        proxy.find_lease.side_effect = sdk_exceptions.DuplicateResource('several')
        proxy.leases.return_value = named
        proxy.get_lease.side_effect = lambda lease_id: named[int(lease_id)]
        return str(leases.find(proxy, 'a').id)

    def test_one_that_has_not_ended(self) -> None:
        self.assertEqual('1', self.found('TERMINATED', 'ACTIVE', 'TERMINATED'))

    def test_several(self) -> None:
        for states in (('TERMINATED', 'TERMINATED'), ('ACTIVE', 'PENDING', 'TERMINATED')):
            error = self.assertRaises(exceptions.CommandError, self.found, *states)
            self.assertIn('Several leases have the name', str(error))


class NounsTest(base.TestCase):
    """The nouns of tables are those of the service."""

    def test_the_types_of_this_release(self) -> None:
        points = importlib.metadata.entry_points(group='climate.resource_types')
        for plugin in (each.load() for each in points if each.name != 'dummy'):
            kind = plugin.resource_type
            self.assertEqual(f'2 {plugin.nouns.many}', nouns.counted('2', kind))
            self.assertEqual(f'1 {plugin.nouns.one}', nouns.counted('1', kind))
