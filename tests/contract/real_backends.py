# SPDX-License-Identifier: Apache-2.0

"""The real cloud that the contract is held against."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import identity
from keystoneauth1 import loading as ks_loading
from novaclient import client as nova_client
from openstack import connection
from oslo_config import cfg

from climate.cloud import base
from climate.cloud import real
from tests.clouds import find_cloud
from tests.contract import wire
from tests.contract.backends import configuration
from tests.contract.backends import FaultyBackend
from tests.contract.people import Person
from tests.contract.people import RealPerson
from tests.contract.proxy import FaultProxy
from tests.contract.proxy import Kind
from tests.waiting import until

REAL_CLOUD = 'CLIMATE_CONTRACT_CONF'

# What a real cloud has to have: a flavor, an image and a network of these names,
# and a user who is a member of another project.
FLAVOR = 'm1.tiny'
IMAGE = 'tiny'
NETWORK = 'shared'
OTHER = {'username': 'bob', 'project_name': 'beta'}


def conf_file() -> str:
    """Return the configuration file that leads to the cloud.

    The one that the environment names, or else that of the Climate that is
    deployed in the cloud for tests.
    """
    return os.environ.get(REAL_CLOUD) or str(find_cloud().climate_conf)


@functools.cache
def _endpoints(file: str) -> Mapping[str, str]:
    """Return the endpoint of each service, by its group, as the catalogue has it."""
    conf = configuration(file)
    known: dict[str, str] = {}
    for group in wire.GROUPS.values():
        if group not in conf:
            continue
        way = group if conf[group].auth_type or conf[group].auth_section else 'nova'
        ks_loading.register_auth_conf_options(conf, way)
        auth = ks_loading.load_auth_from_conf_options(conf, way)
        session = ks_loading.load_session_from_conf_options(conf, way, auth=auth)
        url = conf[group].endpoint_override or auth.get_endpoint(
            session,
            service_type=conf[group].service_type,
            interface=conf[group].valid_interfaces,
            region_name=conf[group].region_name,
            skip_discovery=True,
        )
        # The catalogue names the project of whoever asks; an override need not.
        known[group] = url.replace(auth.get_project_id(session), '%(project_id)s')
    return known


def _way(conf: cfg.ConfigOpts) -> Any:
    auth = ks_loading.load_auth_from_conf_options(conf, 'nova')
    return ks_loading.load_session_from_conf_options(conf, 'nova', auth=auth)


def _library(conf: cfg.ConfigOpts) -> Any:
    """Return novaclient itself, for what tests need and Climate does not."""
    return nova_client.Client(
        '2.53',
        session=_way(conf),
        region_name=conf.nova.region_name,
        interface=conf.nova.valid_interfaces,
    )


@functools.cache
def _objects(file: str) -> Mapping[str, str]:
    """Return the ids of what there has to be in the cloud."""
    conf = configuration(file)
    cloud = connection.Connection(
        session=_way(conf),
        region_name=conf.nova.region_name,
        interface=conf.nova.valid_interfaces[0],
    )
    auth = {name: conf.nova[name] for name in ('auth_url', 'password')}
    domains = {name: conf.nova[name] for name in ('user_domain_name', 'project_domain_name')}
    other = identity.Password(**OTHER, **auth, **domains)
    return {
        'flavor': cloud.compute.find_flavor(FLAVOR, ignore_missing=False).id,
        'image': cloud.image.find_image(IMAGE, ignore_missing=False).id,
        'network': cloud.network.find_network(NETWORK, ignore_missing=False).id,
        'project': str(other.get_project_id(_way(conf))),
    }


class RealBackend(FaultyBackend):
    """A real cloud: see :func:`conf_file`.

    It has to have what the constants above name; the user of another project
    has our own password.

    Its first two hypervisors are moved between aggregates: not for a cloud
    in use. Between our clients and each service is a proxy that
    causes failures on request.

    :param options: of the group of every service
    :ivar proxies: by the group of the service
    """

    patience = 60.0
    pause = 3.0

    def __init__(self, *, connect_retries: int = 0, **options: object) -> None:
        file = conf_file()
        conf = configuration(file)
        self.proxies = {group: FaultProxy(url) for group, url in _endpoints(file).items()}
        for group, proxy in self.proxies.items():
            changed = {'endpoint_override': proxy.url, 'connect_retries': connect_retries}
            for name, value in (changed | options).items():
                conf.set_override(name, value, group=group)
        self.conf = conf
        self.cloud = real.connect(conf)

    def person(self, *roles: str) -> Person:
        """Return a new user."""
        return RealPerson(self.conf, *roles)

    @property
    def hosts(self) -> list[str]:
        """Return the two hosts that the contract may use."""
        return super().hosts[:2]

    @property
    def _fixed(self) -> Mapping[str, str]:
        return _objects(conf_file())

    def draft(self, host: str | None = None, **wanted: Any) -> base.ServerDraft:
        """Describe a server of the smallest flavor, in the network that all share."""
        values = {
            'name': 'vm',
            'flavor_id': self._fixed['flavor'],
            'image_id': self._fixed['image'],
            'nics': (base.Nic(network_id=self._fixed['network']),),
            'host': host,
        }
        return base.ServerDraft(**values | wanted)

    def boot(self, host: str, name: str = 'vm') -> str:
        """Start a server on a host, wait until it is there, and return its id.

        nova-compute boots nothing for a while after a test before has removed
        a provider that was nested in its own: it is asked again.
        """

        def booted() -> str | None:
            server_id = super(RealBackend, self).boot(host, name)
            found = self.cloud.compute.find_server(server_id)
            if found is not None and found.status != 'ERROR':
                return server_id
            self.cloud.compute.delete_server(server_id)
            return None

        return str(until(booted, self.patience, f'a server boots on {host}'))

    @contextlib.contextmanager
    def poor(self, resource: str) -> Iterator[base.Compute]:
        """Allow another project nothing for a while, and give it back what it had."""
        admin = _library(self.conf)
        project = self.other_project
        conf = configuration(conf_file())
        # The options of the way to authenticate are known once it is loaded.
        _way(conf)
        for name, value in OTHER.items():
            conf.set_override(name, value, group='nova')
        admin.quotas.update(project, **{resource: 0, 'force': True})
        try:
            yield real.connect(conf).compute
        finally:
            admin.quotas.delete(project)

    @property
    def other_project(self) -> str:
        """Return the id of the project of another user."""
        return self._fixed['project']

    def slow(self, what: str) -> None:
        """Leave it: a real cloud takes longer than a test that looks at once."""

    def proxy(self, service: str) -> FaultProxy:
        """Return what stands before a service, such as ``compute``."""
        return self.proxies[wire.GROUPS[service]]

    def disturb(self, verb: str, kind: Kind, times: int | None = 1, *, status: int = 503) -> None:
        """Tell the proxy."""
        wanted = 401 if kind == 'expire' else status
        self.proxy(wire.service(verb)).rule(kind, wire.REQUESTS[verb], times, status=wanted)

    def heal(self) -> None:
        """Tell every proxy."""
        for proxy in self.proxies.values():
            proxy.heal()

    @contextlib.contextmanager
    def away(self, service: str) -> Iterator[None]:
        """Close the port of a service."""
        self.proxy(service).close()
        yield
        self.proxy(service).open()

    def count(self, verb: str) -> int:
        """Return how many requests did the work of a verb."""
        return self.proxy(wire.service(verb)).count(wire.REQUESTS[verb])

    def close(self) -> None:
        """Close the proxies."""
        for proxy in self.proxies.values():
            proxy.close()


class ImpatientRealBackend(RealBackend):
    """The same with clients that wait a few seconds and ask twice, as in production."""

    # The making of a stack takes Heat two seconds on a busy machine.
    TIMEOUT = 5.0

    def __init__(self) -> None:
        super().__init__(connect_retries=1, timeout=self.TIMEOUT)
