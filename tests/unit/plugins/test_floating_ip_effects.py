# SPDX-License-Identifier: Apache-2.0
"""The effects of a reservation of floating IPs, with a failure at each call in turn."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable

from climate import exceptions
from climate.cloud.base import CloudQuota
from climate.plugins import contract
from climate.plugins.floating_ip import errors
from tests import base
from tests.unit.plugins import every_call
from tests.unit.plugins import neutron_worlds
from tests.unit.plugins.neutron_worlds import ADDRESSES
from tests.unit.plugins.neutron_worlds import FloatingIPWorld
from tests.unit.plugins.neutron_worlds import OTHERS_TAGS
from tests.unit.plugins.neutron_worlds import TAGS
from tests.unit.plugins.world import OTHER
from tests.unit.plugins.world import OWNER
from tests.unit.plugins.world import RESERVATION
from tests.unit.plugins.world import Stumble

FIRST, SECOND, THIRD = ADDRESSES


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """An effect in a situation.

    :ivar given: brings a new world into the situation
    :ivar left: the addresses that the project has afterwards
    """

    effect: str
    given: Callable[[], FloatingIPWorld]
    left: tuple[str, ...]


def fresh() -> FloatingIPWorld:
    """Nothing has happened yet."""
    return FloatingIPWorld()


def leased() -> FloatingIPWorld:
    """The reservation is active."""
    return FloatingIPWorld().started()


def in_use() -> FloatingIPWorld:
    """Active, and two of the addresses lead to a server."""
    world = leased()
    world.attach(FIRST, SECOND)
    return world


def half_started() -> FloatingIPWorld:
    """A start made one, and another without tags."""
    world = FloatingIPWorld()
    world.cloud.network.set_floating_ip_tags(world.take(FIRST, OWNER).id, TAGS)
    world.take(SECOND, OWNER, f'reservation:{RESERVATION}')
    return world


def grown() -> FloatingIPWorld:
    """One was active, all three are to be."""
    world = FloatingIPWorld()
    world.mine = world.resources[:1]
    world.run('start')
    world.mine = world.resources
    return world


def shrunk() -> FloatingIPWorld:
    """The third is to be given up, which nobody uses."""
    world = in_use()
    world.shrink(1, 2)
    return world


def shrunk_wrongly() -> FloatingIPWorld:
    """One is to be given up that is in use, while another is not."""
    world = in_use()
    world.shrink(2, 3)
    return world


def drifted() -> FloatingIPWorld:
    """One was deleted, one lost its tags, one was made anew for somebody else."""
    world = leased()
    network = world.cloud.network
    found = world.found()
    network.delete_floating_ip(found[FIRST].id)
    network.set_floating_ip_tags(found[SECOND].id, {'mine'})
    network.delete_floating_ip(found[THIRD].id)
    network.set_floating_ip_tags(world.take(THIRD, OTHER).id, TAGS)
    return world


def disguised() -> FloatingIPWorld:
    """The project has taken all marks away."""
    world = in_use()
    for item in world.found().values():
        world.cloud.network.set_floating_ip_tags(item.id, set())
    return world


CASES = (
    Case(effect='start', given=fresh, left=ADDRESSES),
    Case(effect='start', given=half_started, left=ADDRESSES),
    Case(effect='start', given=grown, left=ADDRESSES),
    Case(effect='start', given=shrunk, left=(FIRST, SECOND)),
    Case(effect='start', given=shrunk_wrongly, left=(FIRST, SECOND)),
    Case(effect='check', given=in_use, left=ADDRESSES),
    Case(effect='check', given=drifted, left=ADDRESSES),
    Case(effect='check', given=disguised, left=ADDRESSES),
    Case(effect='end', given=fresh, left=()),
    Case(effect='end', given=half_started, left=()),
    Case(effect='end', given=in_use, left=()),
    Case(effect='end', given=drifted, left=()),
    Case(effect='end', given=disguised, left=()),
)


class TestEveryCase(every_call.EveryCase):
    """Whichever call fails, Neutron has in the end what it should."""

    cases = CASES
    beginnings = (fresh, half_started)
    least = 100

    def finish(self, case: Case, world: FloatingIPWorld, stumble: Stumble) -> None:
        """Run the case to its end, with all that must hold meanwhile."""
        used = {item.id for item in world.found().values() if item.port_id}

        def watch() -> None:
            now = {item.id for item in world.found().values() if item.port_id}
            if case.effect != 'end':
                self.assertEqual(used, now)

        world.run(case.effect, stumble, watch)
        found = world.found()
        self.assertEqual(list(case.left), sorted(found))
        for item in found.values():
            self.assertEqual(OWNER, item.project_id)
            self.assertLessEqual(TAGS, item.tags)
        ids = {address: item.id for address, item in found.items()}
        self.assertEqual(ids or None, world.facts.get('floating_ips'))
        self.assertIn(world.neighbour, world.cloud.networks.floating_ips())

    def nothing_left(self, world: FloatingIPWorld) -> None:
        self.assertEqual({}, world.found())


class TestOutcomes(base.TestCase):
    """What effects say, and what they do in corners."""

    def test_made_in_the_project_with_tags(self) -> None:
        for item in leased().found().values():
            self.assertEqual((OWNER, TAGS, None), (item.project_id, item.tags, item.port_id))

    def test_what_goes_is_not_in_use(self) -> None:
        self.assertIsNone(shrunk().run('start').kept)
        self.assertEqual({1: 1, 2: 1}, shrunk_wrongly().run('start').kept)

    def test_what_is_required_is_kept(self) -> None:
        world = FloatingIPWorld(THIRD).started()
        world.shrink(1, 2)
        self.assertEqual({1, 3}, set(world.run('start').kept or ()))

    def test_what_is_in_use_and_what_is_required_have_to_fit(self) -> None:
        world = FloatingIPWorld(THIRD).started()
        world.attach(FIRST, SECOND)
        world.shrink(2, 3)
        self.assertIn(THIRD, self.assertRaises(exceptions.Permanent, world.once, 'start').message)
        self.assertEqual(set(ADDRESSES), set(world.found()))

    def test_nothing_in_use_is_removed(self) -> None:
        world = leased()
        world.attach(*ADDRESSES)
        before = world.found()
        world.shrink(1, 2)
        self.assertIn(THIRD, self.assertRaises(exceptions.Permanent, world.once, 'start').message)
        self.assertEqual(before, world.found())

    def test_what_cannot_be_kept_to_the_end_is_not_kept_in_place_of_others(self) -> None:
        world = in_use()
        world.shrink(2, 3)
        world.until -= datetime.timedelta(minutes=1)
        self.assertRaises(exceptions.Permanent, world.once, 'start')
        self.assertEqual(set(ADDRESSES), set(world.found()))

    def test_what_is_replaced_goes_although_the_other_is_not_there_yet(self) -> None:
        world = FloatingIPWorld()
        world.mine = world.resources[:2]
        world.run('start')
        world.mine, world.leaving = world.resources[1:], world.resources[:1]
        self.assertIsNone(world.run('start').kept)
        self.assertEqual({SECOND, THIRD}, set(world.found()))

    def test_an_address_of_another_project_is_waited_for(self) -> None:
        for tags, description in ((set(), ''), (OTHERS_TAGS, f'reservation:{RESERVATION}')):
            world = FloatingIPWorld()
            other = world.take(SECOND, OWNER, description)
            world.cloud.network.set_floating_ip_tags(other.id, tags)
            self.assertIsNone(world.once('start'))
            world.once('end')
            self.assertEqual({SECOND}, set(world.found()))
            world.cloud.network.delete_floating_ip(other.id)
            world.run('start')
            self.assertEqual(set(ADDRESSES), set(world.found()))

    def test_an_address_of_some_other_port_is_waited_for(self) -> None:
        world = FloatingIPWorld()
        subnet = world.cloud.network.list_subnets(world.public.id)[0]
        world.cloud.networks.add_port(subnet.id, OTHER, 'router', address=FIRST)
        self.assertIsNone(world.once('start'))

    def test_a_quota_is_reported(self) -> None:
        world = FloatingIPWorld()
        world.cloud.networks.set_quota(OWNER, 'floatingips', 2)
        self.assertRaises(CloudQuota, world.once, 'start')
        world.run('end')
        self.assertEqual({}, world.found())

    def test_check_says_what_it_repaired(self) -> None:
        expected = (
            f'floating IP {FIRST} was missing',
            f'floating IP {SECOND} had lost its tags',
            f'floating IP {THIRD} was of another project',
        )
        self.assertEqual(expected, drifted().run('check').repaired)
        world = drifted()
        world.run('check')
        self.assertEqual((), world.run('check').repaired)

    def test_tags_of_the_project_stay(self) -> None:
        world = drifted()
        world.run('check')
        self.assertEqual({'mine', *TAGS}, world.found()[SECOND].tags)

    def test_one_that_goes_while_it_is_tagged_is_made_again(self) -> None:
        world = FloatingIPWorld()
        world.cloud.fail('network.set_floating_ip_tags', error='not_found')
        self.assertIsNone(world.once('start'))
        world.run('start')


class TestSweep(base.TestCase):
    """What leases that are over have left."""

    def test_only_what_is_known_to_be_over_goes(self) -> None:
        for alive, ended, left in (
            ((), (RESERVATION,), set()),
            ((RESERVATION,), (), set(ADDRESSES)),
            ((RESERVATION,), (RESERVATION,), set(ADDRESSES)),
            ((), (), set(ADDRESSES)),
        ):
            world = in_use()
            records = contract.Records(alive=frozenset(alive), ended=frozenset(ended))
            for dry_run in (True, False):
                findings = list(world.plugin.sweep(records, world.cloud, dry_run=dry_run))
                self.assertEqual(3 - len(left), len(findings))
                self.assertTrue(all(bool(item.done) is not dry_run for item in findings))
                self.assertEqual(set(ADDRESSES) if dry_run else left, set(world.found()))
            self.assertIn(world.neighbour, world.cloud.networks.floating_ips())

    def test_what_does_not_bear_our_tag_stays(self) -> None:
        world = leased()
        world.cloud.network.set_floating_ip_tags(world.found()[FIRST].id, TAGS - {'blazar'})
        records = contract.Records(alive=frozenset(), ended=frozenset({RESERVATION}))
        list(world.plugin.sweep(records, world.cloud, dry_run=False))
        self.assertEqual({FIRST}, set(world.found()))


class TestDiscover(base.TestCase):
    """What can be registered."""

    def setUp(self) -> None:
        super().setUp()
        self.world = FloatingIPWorld()
        self.public = self.world.public.id

    def refused(
        self, error: type[exceptions.ClimateError], address: object, network: str = ''
    ) -> None:
        draft = neutron_worlds.address_draft(network or self.public, address)  # type: ignore[arg-type]  # what no caller should send
        found = self.assertRaises(error, self.world.plugin.discover, draft, self.world.cloud)
        self.assertLess(found.code, 500)

    def test_what_is_kept_of_it(self) -> None:
        (subnet,) = self.world.cloud.network.list_subnets(self.public)
        draft = neutron_worlds.address_draft(self.public, '203.0.113.200')
        draft = dataclasses.replace(draft, capabilities={'room': '1'})
        found = self.world.plugin.discover(draft, self.world.cloud)
        self.assertEqual(f'{self.public}:203.0.113.200', found.name)
        expected = {
            'floating_network_id': self.public,
            'subnet_id': subnet.id,
            'floating_ip_address': '203.0.113.200',
        }
        self.assertEqual(expected, dict(found.attributes))
        self.assertEqual({'room': '1'}, dict(found.capabilities))

    def test_what_is_no_address(self) -> None:
        for address in ('', '203.0.113', '203.0.113.01', '203.0.113.1/24', 'x' * 1000, 7, None):
            self.refused(errors.InvalidIPFormat, address)

    def test_a_network_that_is_not_there_or_leads_nowhere(self) -> None:
        inner = self.world.cloud.networks.add_network('inner', OWNER)
        self.world.cloud.networks.add_subnet(inner.id, '203.0.113.0/24')
        for name in ('twice', 'twice'):
            self.world.cloud.networks.add_network(name, OWNER)
        for network in (inner.id, 'nowhere', 'public', 'twice'):
            self.refused(errors.FloatingIPNetworkNotFound, '203.0.113.200', network)

    def test_an_address_of_no_subnet(self) -> None:
        for address in ('198.51.100.1', '203.0.113.0', '203.0.113.255', '2001:db8::1'):
            self.refused(errors.FloatingIPSubnetNotFound, address)

    def test_addresses_that_neutron_hands_out_are_refused(self) -> None:
        for address in ('203.0.113.1', '203.0.113.2', '203.0.113.50', '203.0.113.99'):
            self.refused(errors.NeutronUsesFloatingIP, address)

    def test_an_address_in_use(self) -> None:
        self.world.take('203.0.113.210')
        subnet = self.world.cloud.network.list_subnets(self.public)[0]
        self.world.cloud.networks.add_port(subnet.id, OTHER, 'router', address='203.0.113.211')
        for address in ('203.0.113.210', '203.0.113.211'):
            self.refused(errors.NeutronUsesFloatingIP, address)
