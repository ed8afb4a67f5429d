# SPDX-License-Identifier: Apache-2.0

"""A real cloud, built once per process from the configuration.

An invalid configuration stops the process here, with a one-line message. No request
is sent, because Climate must be able to start while the cloud is down. Endpoints come
from the catalogue of the token, so a service that moves is found when the token is
renewed.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

from climate import exceptions
from climate.cloud import sessions
from climate.cloud.cinder import CinderBlockStorage
from climate.cloud.cinder import MICROVERSION as VOLUME_MICROVERSION
from climate.cloud.glance import GlanceImages
from climate.cloud.heat import HeatClient
from climate.cloud.keystone import Callers
from climate.cloud.keystone import KeystoneClient
from climate.cloud.neutron import NeutronNetworking
from climate.cloud.nova import NovaCompute
from climate.cloud.placement import MICROVERSION
from climate.cloud.placement import PlacementClient
from climate.cloud.sdk import SdkService
from climate.cloud.sessions import CloudOpener
from climate.cloud.sessions import ServiceSession
from climate.cloud.sessions import ServiceSessions

_OLDEST_COMPUTE = (2, 53)
_NEWEST_COMPUTE = (2, 87)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RealCloud:
    """Implements :class:`climate.cloud.base.Cloud`.

    :ivar opener: opens the cloud for other users
    """

    compute: NovaCompute
    placement: PlacementClient
    image: GlanceImages
    network: NeutronNetworking
    volume: CinderBlockStorage
    orchestration: HeatClient
    identity: KeystoneClient
    opener: CloudOpener[RealCloud] = dataclasses.field(repr=False)

    def acting_for(self, trust_id: str) -> RealCloud:
        """Return the cloud as the user who created a trust sees it."""
        return self.opener.acting_for(trust_id)

    def of_caller(self, token: str) -> RealCloud:
        """Return the cloud as the owner of a token sees it."""
        return self.opener.of_caller(token)

    def as_service(self) -> RealCloud:
        """Return the cloud as the service user sees it."""
        return self.opener.as_service()


def connect(conf: cfg.ConfigOpts) -> RealCloud:
    """Return the cloud that the configuration describes.

    A service whose group has no ``auth_type`` uses the session of ``[nova]``.

    :param conf: parsed, with the options of :mod:`climate.conf` registered
    :raises climate.exceptions.ConfigurationError: if the configuration is invalid
    """
    own = sessions.configured(conf)
    session = own['keystone']
    callers = Callers(_keystone(conf, session), session.errors('Keystone'))

    def opened(of_others: ServiceSessions) -> RealCloud:
        return _open(conf, of_others, opener)

    opener = CloudOpener(conf, own, _identity(conf, session), callers, opened)
    return _open(conf, own, opener)


def _open(
    conf: cfg.ConfigOpts, service_sessions: ServiceSessions, opener: CloudOpener[RealCloud]
) -> RealCloud:
    return RealCloud(
        compute=_compute(conf, service_sessions['nova']),
        placement=_placement(conf, service_sessions['placement']),
        image=GlanceImages(_service(conf, 'image', service_sessions['glance'])),
        network=NeutronNetworking(_service(conf, 'network', service_sessions['neutron'])),
        volume=CinderBlockStorage(
            _service(
                conf, 'block-storage', service_sessions['cinder'], microversion=VOLUME_MICROVERSION
            )
        ),
        orchestration=_orchestration(conf, service_sessions['heat']),
        identity=_identity(conf, service_sessions['keystone']),
        opener=opener,
    )


def _compute(conf: cfg.ConfigOpts, session: ServiceSession) -> NovaCompute:
    group = conf.nova
    version = tuple(int(part) for part in group.compute_api_microversion.split('.'))
    if not _OLDEST_COMPUTE <= version <= _NEWEST_COMPUTE:
        raise exceptions.ConfigurationError(
            '[nova] compute_api_microversion must be from 2.53 to 2.87'
        )
    return NovaCompute(
        microversion=group.compute_api_microversion,
        errors=session.errors('Nova'),
        az_aware=group.az_aware,
        connect_retries=group.connect_retries,
        session=session.session,
        auth=session.auth,
        endpoint_type=group.valid_interfaces,
        endpoint_override=group.endpoint_override,
        region_name=group.region_name,
        service_name=group.service_name,
        service_type=group.service_type,
    )


def _placement(conf: cfg.ConfigOpts, session: ServiceSession) -> PlacementClient:
    adapter = _adapter(conf, 'placement', session, default_microversion=MICROVERSION)
    return PlacementClient(adapter, session.errors('Placement'))


def _service(
    conf: cfg.ConfigOpts,
    service_type: str,
    session: ServiceSession,
    *,
    microversion: str | None = None,
) -> SdkService:
    return SdkService(
        conf,
        service_type,
        session=session.session,
        microversion=microversion,
        refusal=session.refusal,
    )


def _orchestration(conf: cfg.ConfigOpts, session: ServiceSession) -> HeatClient:
    return HeatClient(_adapter(conf, 'heat', session), session.errors('Heat'))


def _identity(conf: cfg.ConfigOpts, session: ServiceSession) -> KeystoneClient:
    return KeystoneClient(_keystone(conf, session), session.errors('Keystone'))


def _keystone(conf: cfg.ConfigOpts, session: ServiceSession) -> ksa_adapter.Adapter:
    adapter = _adapter(conf, 'keystone', session)
    if not (adapter.version or adapter.min_version or adapter.max_version):
        # The URL in the catalogue may lack the version.
        adapter.version = '3'
    return adapter


def _adapter(
    conf: cfg.ConfigOpts, group: str, session: ServiceSession, **others: Any
) -> ksa_adapter.Adapter:
    try:
        return ks_loading.load_adapter_from_conf_options(
            conf, group, session=session.session, auth=session.auth, **others
        )
    except TypeError as error:
        raise exceptions.ConfigurationError(f'[{group}] {error}') from None
