# SPDX-License-Identifier: Apache-2.0

"""Who lands where, whichever way Nova is set up to keep others off."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import openstack

from tests.cloud.base import CloudTest
from tests.cloud.base import reservation
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.settings import await_scheduler
from tests.cloud.settings import configure
from tests.cloud.waiting import until
from tools.cloud import services

STOCK = 'ComputeFilter, ComputeCapabilitiesFilter, ImagePropertiesFilter'
CLOSED = {'filter_tenant_id': 'climate:nobody', 'trait:CUSTOM_CLIMATE_FREEPOOL': 'required'}
NOWHERE = 'nowhere'
ZONE = f'{PREFIX}ordinary'
# The first in which a server can be asked for on a host.
VERSION = '2.74'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Way:
    """One way to set Nova up.

    :ivar filters: of the scheduler, beside the usual
    :ivar isolated: whether Placement is asked to leave closed aggregates out
    :ivar pool: metadata of the pool
    :ivar keys: of the metadata of a reservation's aggregate that name the project
    """

    isolation: str
    filters: str
    isolated: bool
    pool: dict[str, str]
    keys: tuple[str, ...]

    def scheduler(self) -> str:
        """Return the configuration of nova-scheduler."""
        return (
            f'[filter_scheduler]\nenabled_filters = {STOCK}, {self.filters}\n'
            f'[scheduler]\nenable_isolated_aggregate_filtering = {self.isolated}\n'
        )

    def manager(self) -> str:
        """Return the configuration of climate-manager."""
        return f'[physical:host]\nisolation = {self.isolation}\n'


FILTER = Way(
    isolation='filter', filters='BlazarFilter', isolated=False, pool={}, keys=('blazar:owner',)
)
PLACEMENT = Way(
    isolation='placement',
    filters='AggregateMultiTenancyIsolation',
    isolated=True,
    pool=CLOSED,
    keys=('filter_tenant_id',),
)
BOTH = Way(
    isolation='both',
    filters='AggregateMultiTenancyIsolation, BlazarFilter',
    isolated=True,
    pool=CLOSED,
    keys=('blazar:owner', 'filter_tenant_id'),
)


class IsolationTest(CloudTest):
    """One host is leased, one waits in the pool, and everybody tries everything."""

    hosts = 2
    alone = True

    def setUp(self) -> None:
        super().setUp()
        self.ordinary = set(self.cloud.hosts) - set(self.lent)
        self.traits = self.provider_traits()
        self.settings: dict[str, str] = {}
        self.addCleanup(self.set_back)

    # -- the ways

    def set_up(self, way: Way, api: str | None = None) -> None:
        """Configure Nova and Climate, and register the hosts under that."""
        self.settings['nova-scheduler'] = way.scheduler()
        if api is not None:
            self.settings['nova-api'] = api
        if way is not FILTER:
            self.settings |= dict.fromkeys(services.managers(), way.manager())
        configure(self.cloud, self.settings)
        await_scheduler(self.cloud, self.admin)
        for host in self.admin.hosts():
            if host['hypervisor_hostname'] in self.lent:
                self.admin.unregister(host)
        for host in self.lent:
            until(lambda host=host: self.registered(host), 60.0, f'{host} is registered')
        self.assertEqual(way.pool, self.metadata(self.cloud.freepool))

    def registered(self, host: str) -> bool:
        """Register a host; a manager that was just started may not receive it."""
        self.admin.call('POST', '/os-hosts', {'name': host})
        return host in {each['hypervisor_hostname'] for each in self.admin.hosts()}

    def set_back(self) -> None:
        """Configure everything as it was."""
        configure(self.cloud, dict.fromkeys(self.settings, ''))
        await_scheduler(self.cloud, self.admin)
        pool = self.aggregate(self.cloud.freepool)
        present = set(CLOSED) & set(pool.metadata)
        if present:
            gone: dict[str, Any] = dict.fromkeys(present)
            self.admin.sdk.compute.set_aggregate_metadata(pool, **gone)
        zone = self.aggregate(ZONE)
        if zone is not None:
            # No host leaves a zone with servers on it.
            self.remove_servers()
            for host in zone.hosts:
                self.admin.sdk.compute.remove_host_from_aggregate(zone, host)
            self.admin.sdk.compute.delete_aggregate(zone)

    def remove_servers(self) -> None:
        """Delete what people started, and return when it is gone."""
        compute = self.admin.sdk.compute

        def gone() -> bool:
            found = [
                each for each in compute.servers(all_projects=True) if each.name.startswith(PREFIX)
            ]
            for each in found:
                compute.delete_server(each)
            return not found

        until(gone, 60.0, 'the servers of the test are gone')

    # -- what there is

    def metadata(self, name: str) -> dict[str, str]:
        """Return the metadata of an aggregate, without its zone."""
        found = dict(self.aggregate(name).metadata)
        found.pop('availability_zone', None)
        return found

    def provider_traits(self) -> dict[str, set[str]]:
        """Return the traits of every compute host in Placement."""
        placement = self.admin.sdk.placement
        return {
            each.name: set(
                placement.get(f'/resource_providers/{each.id}/traits', microversion='1.6').json()[
                    'traits'
                ]
            )
            for each in placement.resource_providers()
            if each.name in self.cloud.hosts
        }

    def lease(self, way: Way) -> tuple[dict[str, Any], str, str]:
        """Let alice have one of the hosts.

        :returns: the lease, its host, and the host that is left in the pool
        """
        lease = self.await_active(self.alice, self.book(self.alice, 1, 3600))
        name = reservation(lease)
        (leased,) = self.members(name)
        (pooled,) = self.members(self.cloud.freepool)
        self.assertEqual({leased, pooled}, set(self.lent))
        self.assertEqual(dict.fromkeys(way.keys, self.alice.project_id), self.metadata(name))
        return lease, leased, pooled

    def end(self, lease: dict[str, Any], way: Way) -> None:
        """End the lease, and find everything as it was before."""
        self.alice.delete_lease(lease['id'])
        self.check_over(lease, way)

    def check_over(self, lease: dict[str, Any], way: Way) -> None:
        """When the lease is over everything is as it was before."""
        self.await_gone(self.alice, lease, 60)
        self.assert_free(self.lent, lease)
        self.assertEqual(sorted(self.lent), self.members(self.cloud.freepool))
        self.assertEqual(way.pool, self.metadata(self.cloud.freepool))
        self.assertEqual(self.traits, self.provider_traits())

    # -- what people try

    def ask(self, person: Person, **words: Any) -> str:
        """Ask for a server in any way Nova knows; return its id."""
        hints = {'reservation': words.pop('hint')} if 'hint' in words else {}
        compute = person.sdk.compute
        server = {
            'name': f'{PREFIX}{person.name}',
            'flavorRef': compute.find_flavor(self.cloud.flavor).id,
            'imageRef': person.sdk.image.find_image(self.cloud.image).id,
            'networks': 'none',
            **words,
        }
        body = {'server': server, 'os:scheduler_hints': hints}
        response = compute.post('/servers', json=body, microversion=VERSION)
        openstack.exceptions.raise_from_response(response)
        return str(response.json()['server']['id'])

    def landed(self, person: Person, server: str) -> str:
        """Return the host that a server got, in the end."""
        status = person.settled(server)
        return self.host_of(server) if status == 'ACTIVE' else NOWHERE

    def assert_landing(self, wanted: list[tuple[Person, dict[str, Any], set[str]]]) -> None:
        """All ask at once, and each gets a host of those that are expected, or none."""
        asked = [self.ask(person, **words) for person, words, _ in wanted]
        for server, (person, words, hosts) in zip(asked, wanted, strict=True):
            self.assertIn(self.landed(person, server), hosts, (person.name, words))

    def assert_refused_to(self, host: str, server: str) -> None:
        """A server of somebody else cannot be moved to a host."""
        before = self.host_of(server)
        for action in (
            {'migrate': {'host': host}},
            {'os-migrateLive': {'host': host, 'block_migration': 'auto'}},
        ):
            seen = self.actions(server)
            path = f'/servers/{server}/action'
            response = self.admin.sdk.compute.post(path, json=action, microversion=VERSION)
            self.assertEqual(202, response.status_code, response.text)
            until(lambda seen=seen: self.over(server, seen), 60.0, f'{action} is over')
            self.assertEqual((before, 'ACTIVE'), (self.host_of(server), self.admin.status(server)))

    def actions(self, server: str) -> int:
        """Return how many actions on a server failed."""
        found = self.admin.sdk.compute.get(f'/servers/{server}/os-instance-actions')
        return sum(each['message'] == 'Error' for each in found.json()['instanceActions'])

    def over(self, server: str, failed: int) -> bool:
        """Return whether one more action has failed, and is done with."""
        with contextlib.suppress(openstack.exceptions.NotFoundException):
            found = self.admin.sdk.compute.get_server(server)
            return found.task_state is None and self.actions(server) > failed
        return False

    # -- each way

    def test_filter(self) -> None:
        self.check(FILTER, by_hint=True, by_zone=False)

    def test_placement(self) -> None:
        self.check(PLACEMENT, by_hint=False, by_zone=True)

    def test_both(self) -> None:
        self.check(BOTH, by_hint=True, by_zone=False)

    def check(self, way: Way, *, by_hint: bool, by_zone: bool) -> None:
        """Try everything.

        :param by_hint: servers have to name their reservation in a hint
        :param by_zone: it is enough to name the zone
        """
        self.set_up(way)
        lease, leased, pooled = self.lease(way)
        name = reservation(lease)
        zone, hint = {'availability_zone': f'blazar_{name}'}, {'hint': name}
        # Without a zone the owner is at home everywhere if nothing wants a hint.
        anywhere = self.ordinary if by_hint else self.ordinary | {leased}
        self.assert_landing(
            [
                (self.alice, zone | hint, {leased}),
                (self.alice, zone, {leased} if by_zone else {NOWHERE}),
                (self.alice, hint, {leased} if by_hint else anywhere),
                *[(self.alice, {}, anywhere)] * 3,
                (self.bob, zone | hint, {NOWHERE}),
                (self.bob, zone, {NOWHERE}),
                (self.bob, hint, {NOWHERE} if by_hint else self.ordinary),
                *[(self.bob, {}, self.ordinary)] * 4,
                (self.admin, {'host': leased}, {NOWHERE}),
                (self.admin, {'host': pooled}, {NOWHERE}),
            ]
        )
        self.check_forced(pooled, NOWHERE if way.isolated else pooled)
        self.check_moves(leased, pooled)
        self.end_with_a_guest(lease, leased)
        self.check_over(lease, way)
        # The lease is over, and Nova knows no such zone any more.
        self.assert_error(
            openstack.exceptions.BadRequestException,
            'availability zone',
            self.ask,
            self.alice,
            **zone,
        )

    def end_with_a_guest(self, lease: dict[str, Any], leased: str) -> None:
        """What an administrator forced onto the host, past every filter, holds up the end."""
        zone = f'blazar_{reservation(lease)}:{leased}'
        guest = self.ask(self.admin, availability_zone=zone)
        self.assertEqual(leased, self.landed(self.admin, guest))
        self.alice.delete_lease(lease['id'])
        until(lambda: self.servers_on(leased) == [guest], 60.0, 'the servers of alice are gone')
        self.assertEqual('DELETING', self.alice.lease(lease['id'])['status'])
        self.assertEqual('ACTIVE', self.admin.status(guest))
        self.admin.sdk.compute.delete_server(guest)

    def check_moves(self, leased: str, pooled: str) -> None:
        """A server of somebody else does not get there later, either."""
        stranger = self.ask(self.bob)
        self.assertIn(self.landed(self.bob, stranger), self.ordinary)
        for host in (leased, pooled):
            self.assert_refused_to(host, stranger)

    def check_forced(self, pooled: str, expected: str) -> None:
        """Not even an administrator goes past Placement."""
        server = self.ask(self.admin, availability_zone=f'nova:{pooled}')
        self.assertEqual(expected, self.landed(self.admin, server))
        self.admin.sdk.compute.delete_server(server)
        until(lambda: self.admin.status(server) == 'GONE', 60.0, f'{server} is gone')

    def test_with_a_zone_for_ordinary_servers_none_lands_by_chance(self) -> None:
        self.set_up(PLACEMENT, api=f'[DEFAULT]\ndefault_schedule_zone = {ZONE}\n')
        compute = self.admin.sdk.compute
        zone = compute.create_aggregate(name=ZONE, availability_zone=ZONE)
        for host in sorted(self.ordinary):
            compute.add_host_to_aggregate(zone, host)
        lease, leased, _ = self.lease(PLACEMENT)
        mine = {'availability_zone': f'blazar_{reservation(lease)}'}
        hers = [(self.alice, mine, {leased}), *[(self.alice, {}, self.ordinary)] * 4]
        his = [(self.bob, mine, {NOWHERE}), (self.bob, {}, self.ordinary)]
        self.assert_landing([*hers, *his])
        self.end(lease, PLACEMENT)
