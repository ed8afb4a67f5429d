# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""A real cloud, built once per process out of the configuration.

Failure: a configuration that cannot work stops the process here, with one
clear line. Whether the cloud answers is not tried: a service must be able to
start while it does not. Drift: endpoints come from the catalogue of the
token, so a service that moves is followed when the token is renewed.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

from climate import exceptions
from climate.clients import ways
from climate.clients.cinder import CinderBlockStorage
from climate.clients.cinder import MICROVERSION as VOLUME_MICROVERSION
from climate.clients.glance import GlanceImages
from climate.clients.heat import HeatClient
from climate.clients.keystone import Callers
from climate.clients.keystone import KeystoneClient
from climate.clients.neutron import NeutronNetworking
from climate.clients.nova import NovaCompute
from climate.clients.placement import MICROVERSION
from climate.clients.placement import PlacementClient
from climate.clients.sdk import Service
from climate.clients.ways import Stead
from climate.clients.ways import Way
from climate.clients.ways import Ways

_OLDEST_COMPUTE = (2, 53)
_NEWEST_COMPUTE = (2, 87)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RealCloud:
    """Fulfils :class:`climate.clients.base.Cloud`.

    :ivar stead: opens the clouds of others
    """

    compute: NovaCompute
    placement: PlacementClient
    image: GlanceImages
    network: NeutronNetworking
    volume: CinderBlockStorage
    orchestration: HeatClient
    identity: KeystoneClient
    stead: Stead[RealCloud] = dataclasses.field(repr=False)

    def acting_for(self, trust_id: str) -> RealCloud:
        """Return the cloud as the user sees it who made a trust."""
        return self.stead.acting_for(trust_id)

    def of_caller(self, token: str) -> RealCloud:
        """Return the cloud as the owner of a token sees it."""
        return self.stead.of_caller(token)

    def as_service(self) -> RealCloud:
        """Return the cloud as we see it ourselves."""
        return self.stead.as_service()


def connect(conf: cfg.ConfigOpts) -> RealCloud:
    """Return the cloud that the groups of its services describe.

    Without an ``auth_type`` of its own, a service is called through the
    session of ``[nova]``.

    :param conf: parsed, with the options of :mod:`climate.conf` registered
    :raises climate.exceptions.ConfigurationError: if it cannot work
    """
    own = ways.configured(conf)
    way = own['keystone']
    callers = Callers(_keystone(conf, way), way.errors('Keystone'))

    def opened(of_others: Ways) -> RealCloud:
        return _open(conf, of_others, stead)

    stead = Stead(conf, own, _identity(conf, way), callers, opened)
    return _open(conf, own, stead)


def _open(conf: cfg.ConfigOpts, found: Ways, stead: Stead[RealCloud]) -> RealCloud:
    return RealCloud(
        compute=_compute(conf, found['nova']),
        placement=_placement(conf, found['placement']),
        image=GlanceImages(_service(conf, 'image', found['glance'])),
        network=NeutronNetworking(_service(conf, 'network', found['neutron'])),
        volume=CinderBlockStorage(
            _service(conf, 'block-storage', found['cinder'], microversion=VOLUME_MICROVERSION)
        ),
        orchestration=_orchestration(conf, found['heat']),
        identity=_identity(conf, found['keystone']),
        stead=stead,
    )


def _compute(conf: cfg.ConfigOpts, way: Way) -> NovaCompute:
    group = conf.nova
    version = tuple(int(part) for part in group.compute_api_microversion.split('.'))
    if not _OLDEST_COMPUTE <= version <= _NEWEST_COMPUTE:
        raise exceptions.ConfigurationError(
            '[nova] compute_api_microversion must be from 2.53 to 2.87'
        )
    return NovaCompute(
        microversion=group.compute_api_microversion,
        errors=way.errors('Nova'),
        az_aware=group.az_aware,
        connect_retries=group.connect_retries,
        session=way.session,
        auth=way.auth,
        endpoint_type=group.valid_interfaces,
        endpoint_override=group.endpoint_override,
        region_name=group.region_name,
        service_name=group.service_name,
        service_type=group.service_type,
    )


def _placement(conf: cfg.ConfigOpts, way: Way) -> PlacementClient:
    adapter = _adapter(conf, 'placement', way, default_microversion=MICROVERSION)
    return PlacementClient(adapter, way.errors('Placement'))


def _service(
    conf: cfg.ConfigOpts, service_type: str, way: Way, *, microversion: str | None = None
) -> Service:
    return Service(
        conf, service_type, session=way.session, microversion=microversion, refusal=way.refusal
    )


def _orchestration(conf: cfg.ConfigOpts, way: Way) -> HeatClient:
    return HeatClient(_adapter(conf, 'heat', way), way.errors('Heat'))


def _identity(conf: cfg.ConfigOpts, way: Way) -> KeystoneClient:
    return KeystoneClient(_keystone(conf, way), way.errors('Keystone'))


def _keystone(conf: cfg.ConfigOpts, way: Way) -> ksa_adapter.Adapter:
    adapter = _adapter(conf, 'keystone', way)
    if not (adapter.version or adapter.min_version or adapter.max_version):
        # The catalogue need not say the version.
        adapter.version = '3'
    return adapter


def _adapter(conf: cfg.ConfigOpts, group: str, way: Way, **others: Any) -> ksa_adapter.Adapter:
    try:
        return ks_loading.load_adapter_from_conf_options(
            conf, group, session=way.session, auth=way.auth, **others
        )
    except TypeError as error:
        raise exceptions.ConfigurationError(f'[{group}] {error}') from None
