# SPDX-License-Identifier: Apache-2.0
"""Small clouds with one reservation of floating IPs, or of a network."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

from climate.clock import ManualClock
from climate.cloud.base import Cloud
from climate.cloud.base import FloatingIP
from climate.cloud.base import Network
from climate.cloud.base import Segment
from climate.domain.leases import Allocation
from climate.domain.leases import AllocationState
from climate.domain.periods import Period
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins import contract
from climate.plugins.floating_ip.plugin import FloatingIP as FloatingIPPlugin
from climate.plugins.network.plugin import NetworkPlugin
from climate.simulator import SimulatedCloud
from tests.narrowing import present
from tests.unit.plugins.effect_runners import EffectRunner
from tests.unit.plugins.effect_runners import NOW
from tests.unit.plugins.effect_runners import OTHER
from tests.unit.plugins.effect_runners import OWNER
from tests.unit.plugins.effect_runners import PERIOD
from tests.unit.plugins.effect_runners import RESERVATION

TAGS = {'blazar', f'reservation:{RESERVATION}'}
OTHERS_TAGS = {'blazar', 'reservation:0e6c1f0a-1111-4a1c-9d8e-6c5f1d2a3b4c'}
ADDRESSES = ('203.0.113.201', '203.0.113.202', '203.0.113.203')


class NeutronEffectRunner(EffectRunner):
    """A cloud, and a reservation of some of its resources.

    :ivar mine: what the reservation is to have
    :ivar leaving: what it is to give up
    :ivar until: up to when it has what it is to give up
    :ivar request: as it is stored
    """

    def __init__(self, plugin: contract.Plugin[Any]) -> None:
        self.clock = ManualClock(NOW)
        self.cloud = SimulatedCloud(':memory:', clock=self.clock)
        self.cloud.seed(1)
        self.plugin = plugin
        self.facts: dict[str, Any] = {}
        self.since: datetime.datetime | None = None
        self.resources: tuple[Resource, ...] = ()
        self.mine: tuple[Resource, ...] = ()
        self.leaving: tuple[Resource, ...] = ()
        self.until = PERIOD.end
        self.request: dict[str, Any] = {}

    def register(self, *drafts: ResourceDraft) -> None:
        """Have resources, all of them allocated."""
        self.resources = tuple(
            dataclasses.replace(self.plugin.discover(draft, self.cloud), id=number)
            for number, draft in enumerate(drafts, 1)
        )
        self.mine = self.resources

    def work(self) -> contract.Work:
        """Return what a manager would hand over now."""
        return self.handed_over(
            self.request,
            (_allocation(item, PERIOD.end) for item in self.mine),
            (*self.mine, *self.leaving),
            (_allocation(item, self.until) for item in self.leaving),
        )

    def once(self, effect: str, cloud: Cloud | None = None) -> contract.Outcome | None:
        """Run an effect once; what was given up is not the reservation's any more."""
        outcome = super().once(effect, cloud)
        if isinstance(outcome, contract.Done) and self.leaving:
            ids = outcome.kept or {item.id for item in self.mine}
            self.mine = tuple(item for item in self.resources if item.id in ids)
            self.leaving = ()
        return outcome

    def shrink(self, *keep: int) -> None:
        """Have it give up all but the resources of these numbers, from 1."""
        self.mine = tuple(item for item in self.resources if item.id in keep)
        self.leaving = tuple(item for item in self.resources if item.id not in keep)


def _allocation(resource: Resource, end: datetime.datetime) -> Allocation:
    return Allocation(
        reservation_id=RESERVATION,
        resource_id=resource.id or 0,
        resource_name=resource.name,
        period=Period(start=PERIOD.start, end=end),
        state=AllocationState.HELD,
        id=resource.id,
    )


class FloatingIPEffectRunner(NeutronEffectRunner):
    """Three registered addresses of ``public``, all of them allocated."""

    def __init__(self, *required: str) -> None:
        super().__init__(FloatingIPPlugin())
        self.public = next(item for item in self.cloud.networks.networks() if item.external)
        self.register(*(address_draft(self.public.id, address) for address in ADDRESSES))
        self.request = {
            'network_id': self.public.id,
            'amount': len(ADDRESSES),
            'required_floatingips': list(required),
        }
        # Somebody's, who has nothing to do with leases.
        self.neighbour = self.cloud.network.create_floating_ip(self.public.id, OTHER)

    def found(self) -> dict[str, FloatingIP]:
        """Return all but the neighbour's floating IP, by address."""
        return {
            item.address: item
            for item in self.cloud.networks.floating_ips()
            if item.id != self.neighbour.id
        }

    def take(self, address: str, project: str = OTHER, description: str = '') -> FloatingIP:
        """Have an operator give an address to somebody."""
        return self.cloud.network.create_floating_ip(
            self.public.id, project, address=address, description=description
        )

    def attach(self, *addresses: str) -> None:
        """Have the project make use of addresses."""
        made = self.cloud.networks.add_network('inner', OWNER)
        subnet = self.cloud.networks.add_subnet(made.id, '10.9.0.0/24')
        for address in addresses:
            port = self.cloud.networks.add_port(subnet.id, OWNER, 'server')
            self.cloud.networks.attach(self.found()[address].id, port.id)


def address_draft(network_id: str, address: str) -> ResourceDraft:
    """Return what an operator says of an address."""
    return ResourceDraft(
        resource_type='virtual:floatingip',
        attributes={'floating_network_id': network_id, 'floating_ip_address': address},
    )


class SegmentEffectRunner(NeutronEffectRunner):
    """Two registered VLANs, the first of them allocated; its neighbour is in use."""

    def __init__(self) -> None:
        super().__init__(NetworkPlugin())
        self.register(vlan_draft(101), vlan_draft(102))
        self.mine = self.resources[:1]
        self.call('blue', 'the net')
        self.neighbour = self.cloud.network.create_network('red', OTHER, vlan(100))

    def call(self, name: str, description: str = '') -> None:
        """Ask for another name."""
        self.request = {
            'network_name': name,
            'network_description': description,
            'network_properties': '',
            'resource_properties': '',
        }

    def found(self, number: int = 101) -> Network | None:
        """Return the network that is on a VLAN."""
        return next(
            (item for item in self.cloud.networks.networks() if item.segment == vlan(number)), None
        )

    def made(self, number: int = 101) -> Network:
        """Return the network that has to be on a VLAN."""
        return present(self.found(number))

    def plugged(self) -> set[str]:
        """Return the ids of the ports of the network, and of its subnets."""
        found = self.found()
        if found is None:
            return set()
        ports = self.cloud.network.list_ports(found.id)
        return {item.id for item in (*ports, *self.cloud.network.list_subnets(found.id))}

    def furnish(self) -> str:
        """Have the project plug in a server with a floating IP, and a router.

        :returns: the id of the floating IP
        """
        networks = self.cloud.networks
        subnet = networks.add_subnet(self.made().id, '10.9.0.0/24')
        networks.add_route(networks.add_router(subnet.id, OWNER), '10.9.0.7')
        port = networks.add_port(subnet.id, OWNER, 'server')
        networks.add_port(subnet.id, OWNER)
        public = next(item for item in networks.networks() if item.external)
        floating = self.cloud.network.create_floating_ip(public.id, OWNER)
        networks.attach(floating.id, port.id)
        return floating.id


def vlan(number: int) -> Segment:
    """Return a VLAN of the simulated cloud's wires."""
    return Segment(network_type='vlan', physical_network='physnet1', segmentation_id=number)


def vlan_draft(number: int) -> ResourceDraft:
    """Return what an operator says of a VLAN."""
    return ResourceDraft(
        resource_type='network',
        attributes={'network_type': 'vlan', 'physical_network': 'physnet1', 'segment_id': number},
    )
