# SPDX-License-Identifier: Apache-2.0

"""The backends of the contract of networks: what others do in Neutron."""

from __future__ import annotations

import abc
import contextlib
import functools
from typing import Any

from keystoneauth1 import loading as ks_loading
from openstack import connection

from climate.cloud import base
from tests.contract import backends
from tests.contract import real_backends

CIDR = '198.51.100.0/24'
POOL = ('198.51.100.10', '198.51.100.12')


class Networks(abc.ABC):
    """What others do; it is removed when the backend is closed."""

    @abc.abstractmethod
    def external(self) -> tuple[str, str]:
        """Return a new external network and its subnet: :data:`CIDR`, :data:`POOL`."""

    @abc.abstractmethod
    def subnet(self, network_id: str) -> str:
        """Add a subnet to a network of the project."""

    @abc.abstractmethod
    def port(self, subnet_id: str) -> str:
        """Plug something into a subnet."""

    @abc.abstractmethod
    def router(self, subnet_id: str, external_id: str) -> str:
        """Plug a new router into a subnet, with the gateway to an external network."""

    @abc.abstractmethod
    def route(self, router_id: str, nexthop: str) -> None:
        """Have a router send something to an address of its subnet, and no more."""

    @abc.abstractmethod
    def attach(self, floating_ip_id: str, port_id: str) -> None:
        """Let a floating IP lead to a port."""

    @abc.abstractmethod
    def quota(self, resource: str, more: int) -> None:
        """Let the project have so many *more* than it has."""

    def segment(self) -> base.Segment:
        """Return a segment that nobody uses."""
        return backends.free_vlan()


class SimulatedNetworks(Networks):
    """On a cloud."""

    project = 'p1'

    def external(self) -> tuple[str, str]:
        """Make one."""
        made = self.cloud.networks.add_network(backends.unique(), 'admin', external=True)
        return made.id, self.cloud.networks.add_subnet(made.id, CIDR, (POOL,)).id

    def subnet(self, network_id: str) -> str:
        """Add one."""
        return str(self.cloud.networks.add_subnet(network_id, '10.9.0.0/24').id)

    def port(self, subnet_id: str) -> str:
        """Plug something in."""
        return str(self.cloud.networks.add_port(subnet_id, self.project).id)

    def router(self, subnet_id: str, external_id: str) -> str:
        """Plug one in."""
        return str(self.cloud.networks.add_router(subnet_id, self.project))

    def route(self, router_id: str, nexthop: str) -> None:
        """Have it."""
        self.cloud.networks.add_route(router_id, nexthop)

    def attach(self, floating_ip_id: str, port_id: str) -> None:
        """Attach it."""
        self.cloud.networks.attach(floating_ip_id, port_id)

    def quota(self, resource: str, more: int) -> None:
        """Set it."""
        held = {'networks': self.cloud.networks.networks}.get(
            resource, self.cloud.networks.floating_ips
        )()
        used = sum(found.project_id == self.project for found in held)
        self.cloud.networks.set_quota(self.project, resource, used + more)


class SimulatedBackend(SimulatedNetworks, backends.SimulatedBackend):
    """The simulated cloud in memory."""


class FileSimulatedBackend(SimulatedNetworks, backends.FileSimulatedBackend):
    """The simulated cloud on a file."""


class RealBackend(Networks, real_backends.RealBackend):
    """A real cloud, in which an administrator does what others do.

    The project exists in Neutron only, which asks nobody.
    """

    def __init__(self) -> None:
        super().__init__()
        self.project = backends.unique('').replace('-', '')[:32]
        self._left = contextlib.ExitStack()
        self.neutron = administrator().network

    def _later(self, call: Any, *arguments: Any, **options: Any) -> None:
        self._left.callback(call, *arguments, **options)

    def external(self) -> tuple[str, str]:
        """Make one."""
        made = self.neutron.create_network(name=backends.unique(), is_router_external=True)
        self._later(self._empty, made.id)
        subnet = self.neutron.create_subnet(
            network_id=made.id,
            ip_version=4,
            cidr=CIDR,
            allocation_pools=[{'start': POOL[0], 'end': POOL[1]}],
        )
        return made.id, subnet.id

    def _empty(self, network_id: str) -> None:
        for found in self.neutron.ips(floating_network_id=network_id):
            self.neutron.delete_ip(found)
        self.neutron.delete_network(network_id)

    def subnet(self, network_id: str) -> str:
        """Add one."""
        made = self.neutron.create_subnet(
            network_id=network_id, ip_version=4, cidr='10.9.0.0/24', project_id=self.project
        )
        return str(made.id)

    def port(self, subnet_id: str) -> str:
        """Plug something in."""
        network_id = self.neutron.get_subnet(subnet_id).network_id
        made = self.neutron.create_port(network_id=network_id, project_id=self.project)
        self._later(self.neutron.delete_port, made.id)
        return str(made.id)

    def router(self, subnet_id: str, external_id: str) -> str:
        """Plug one in."""
        made = self.neutron.create_router(
            project_id=self.project, external_gateway_info={'network_id': external_id}
        )
        self.neutron.add_interface_to_router(made.id, subnet_id=subnet_id)
        self._later(self._take_down, made.id, subnet_id)
        return str(made.id)

    def _take_down(self, router_id: str, subnet_id: str) -> None:
        if self.neutron.find_router(router_id):
            if list(self.neutron.ports(device_id=router_id, fixed_ips=f'subnet_id={subnet_id}')):
                self.neutron.remove_interface_from_router(router_id, subnet=subnet_id)
            self.neutron.delete_router(router_id)

    def route(self, router_id: str, nexthop: str) -> None:
        """Have it."""
        routes = [{'destination': '192.0.2.0/24', 'nexthop': nexthop}]
        self.neutron.update_router(router_id, routes=routes)

    def attach(self, floating_ip_id: str, port_id: str) -> None:
        """Attach it."""
        self.neutron.update_ip(floating_ip_id, port_id=port_id)

    def quota(self, resource: str, more: int) -> None:
        """Set it."""
        listed = self.neutron.ips if resource == 'floatingips' else self.neutron.networks
        used = len(list(listed(project_id=self.project)))
        name = {'floatingips': 'floating_ips'}.get(resource, resource)
        self.neutron.update_quota(self.project, **{name: used + more})
        self._later(self.neutron.delete_quota, self.project)

    def close(self) -> None:
        """Remove what others have left."""
        self._left.close()
        super().close()


@functools.cache
def administrator() -> Any:
    """Return a connection of openstacksdk as Climate's user, past all proxies."""
    conf = backends.configuration(real_backends.conf_file())
    ks_loading.register_auth_conf_options(conf, 'nova')
    auth = ks_loading.load_auth_from_conf_options(conf, 'nova')
    session = ks_loading.load_session_from_conf_options(conf, 'nova', auth=auth)
    return connection.Connection(session=session, region_name=conf.nova.region_name)
