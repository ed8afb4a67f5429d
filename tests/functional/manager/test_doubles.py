# SPDX-License-Identifier: Apache-2.0

"""What a manager that hung in a call has made a second time, or too late."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from climate.cloud.base import Segment
from climate.cloud.base import ServerDraft
from climate.domain.leases import Lease
from climate.plugins.server import steps
from climate.plugins.volume import effects
from climate.testing import walker
from climate.testing.kinds import TypeRegistrar
from tests import base
from tests.functional.manager import harness
from tests.functional.manager.walk import kinds
from tests.functional.manager.walk import servers
from tests.functional.manager.walk import storage
from tests.functional.manager.walk.deployment import CALLER
from tests.functional.manager.walk.deployment import WalkDeployment


class DoubleCase(base.TestCase):
    """A deployment in which calls arrive late."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.useFixture(WalkDeployment())
        self.cloud = self.site.cloud
        self.place = TypeRegistrar(self.site.store, self.site.plugins, self.cloud)
        self.user = self.cloud.of_caller(f'{harness.CALLER.user_id}:{harness.PROJECT}')

    def active(self, *requests: Mapping[str, Any]) -> Lease:
        """Return a lease that has started."""
        lease = self.site.book(requests, walker.START, walker.END)
        self.assertEqual('ACTIVE', self.site.status_at(walker.ACTIVE, lease))
        return lease

    def repair(self) -> None:
        """Look whether all is as it should be, and see to it."""
        list(self.site.repair().run())

    def end(self) -> None:
        """Let the lease end."""
        self.site.until(walker.END + walker.LONG)


class TestVolumes(DoubleCase):
    """Volumes are made once for each number."""

    def late(self, lease: Lease, number: int = 1, call: str = 'late') -> str:
        """Make a volume for the lease, as a manager that was overtaken does."""
        marks = {
            effects.RESERVATION_KEY: lease.reservations[0].id,
            effects.NUMBER_KEY: str(number),
            effects.CALL_KEY: call,
        }
        return self.user.volume.create_volume('late', 10, volume_type='standard', metadata=marks)

    def there(self) -> set[str]:
        """Return the ids of the volumes that there are."""
        self.site.until(self.site.seconds() + 5)
        return {item.id for item in self.cloud.volumes.volumes()}

    def test_a_second_one_goes_and_what_its_owner_made_stays(self) -> None:
        lease = self.active(*storage.made(self.place))
        good = self.there()
        original = next(item for item in self.cloud.volumes.volumes() if item.name == 'walk-1')
        copy = self.user.volume.create_volume(
            'restored', 10, volume_type='standard', metadata=dict(original.metadata)
        )
        self.late(lease)
        self.late(lease, number=7)
        self.assertEqual(len(good) + 3, len(self.there()))
        self.repair()
        self.assertEqual({*good, copy}, self.there())

    def test_one_that_is_in_use_goes_with_the_lease(self) -> None:
        late = self.late(self.active(*storage.made(self.place)))
        self.there()
        server = next(item for item in self.cloud.servers() if item.name == 'server')
        self.cloud.volumes.attach(late, server.id)
        self.repair()
        self.assertIn(late, self.there())
        self.end()
        self.assertEqual(set(), self.there())


class TestServers(DoubleCase):
    """A server is booted once, whether room was booked for it or not."""

    def boot(self, **marks: str) -> str:
        """Boot a server that bears some metadata."""
        draft = ServerDraft(name='late', flavor_id='1', metadata=marks)
        return self.user.compute.create_server(draft)

    def test_a_second_one_goes_and_what_its_owner_booted_stays(self) -> None:
        (request,) = servers.booted(self.cloud)
        lease = self.active({**request, 'guarantee': False})
        (mine,) = self.cloud.servers()
        mark = lease.reservations[0].id
        copies = {
            self.boot(**{steps.MARK: mark}),
            self.boot(**mine.metadata),
            self.boot(**{steps.CALL: 'late'}),
        }
        self.boot(**{steps.MARK: mark, steps.CALL: 'late'})
        self.repair()
        self.assertEqual({mine.id, *copies}, {item.id for item in self.cloud.servers()})

    def test_the_end_takes_both(self) -> None:
        (request,) = servers.booted(self.cloud)
        lease = self.active({**request, 'guarantee': False, 'on_end': ['delete']})
        self.boot(**{steps.MARK: lease.reservations[0].id, steps.CALL: 'late'})
        self.assertEqual(2, len(self.cloud.servers()))
        self.end()
        self.assertEqual([], list(self.cloud.servers()))


class TestImages(DoubleCase):
    """Of a server one image is made each time that one is wanted."""

    def setUp(self) -> None:
        super().setUp()
        (request,) = servers.own(self.cloud)
        self.server = str(request['server_id'])
        self.earlier = self.late()
        wish = {**request, 'before_end': 'snapshot,notify', 'on_end': ['snapshot', 'delete']}
        draft = self.site.draft([wish], walker.START, walker.END, walker.END - 200)
        self.lease = self.site.leases.create(CALLER, draft)
        self.site.until(walker.END - 100)
        (self.good,) = self.given()

    def late(self) -> str:
        """Make an image of the server, as a manager that was overtaken does."""
        return self.cloud.compute.create_image(self.server, servers.IMAGE)

    def there(self) -> set[str]:
        """Return the ids of the images that there are."""
        return {item.id for item in self.cloud.images()}

    def given(self) -> set[str]:
        """Return the ids of the images that are the project's."""
        return {item.id for item in self.cloud.images() if item.owner == harness.PROJECT}

    def test_a_second_one_goes_and_no_other(self) -> None:
        own = self.user.compute.create_image(self.server, servers.IMAGE)
        self.late()
        self.repair()
        self.assertEqual({self.earlier, self.good, own}, self.there())

    def test_the_end_takes_it_as_well(self) -> None:
        self.late()
        self.end()
        self.assertEqual('TERMINATED', self.site.status(self.lease))
        self.assertEqual(2, len(self.given()))
        self.assertEqual({self.earlier, *self.given()}, self.there())


class TestInNeutron(DoubleCase):
    """What was made when the lease was over has a description, and no tags."""

    def test_networks(self) -> None:
        (request,) = kinds.KINDS['network'].furnish(self.place)
        lease = self.active(request)
        self.end()
        segment = Segment(network_type='vlan', physical_network='physnet1', segmentation_id=101)
        name = f'reservation:{lease.reservations[0].id}'
        late = self.cloud.network.create_network('late', 'blue', segment, description=name)
        self.repair()
        self.assertNotIn(late.id, {item.id for item in self.cloud.networks.networks()})
        other = self.cloud.network.create_network('other', 'blue', segment, description='own')
        self.repair()
        self.assertIn(other.id, {item.id for item in self.cloud.networks.networks()})

    def test_an_address_that_the_lease_has_given_up(self) -> None:
        (request,) = kinds.KINDS['virtual:floatingip'].furnish(self.place)
        lease = self.active(request)
        mine = {item.id for item in self.cloud.networks.floating_ips()}
        taken = {item.address for item in self.cloud.networks.floating_ips()}
        (free,) = set(kinds.ADDRESSES) - taken
        public, name = str(request['network_id']), f'reservation:{lease.reservations[0].id}'
        for settle in (self.repair, self.end):
            late = self.cloud.network.create_floating_ip(
                public, 'blue', address=free, description=name
            )
            settle()
            mine &= {item.id for item in self.cloud.networks.floating_ips()}
            self.assertNotIn(late.id, {item.id for item in self.cloud.networks.floating_ips()})
            self.assertEqual(2 if settle == self.repair else 0, len(mine))

    def test_floating_ips(self) -> None:
        (request,) = kinds.KINDS['virtual:floatingip'].furnish(self.place)
        lease = self.active(request)
        self.end()
        public = str(request['network_id'])
        name = f'reservation:{lease.reservations[0].id}'
        self.cloud.network.create_floating_ip(public, 'blue', description=name)
        other = self.cloud.network.create_floating_ip(public, 'blue', description='own')
        self.repair()
        self.assertEqual([other.id], [item.id for item in self.cloud.networks.floating_ips()])
