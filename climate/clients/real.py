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

from keystoneauth1 import exceptions as ksa
from keystoneauth1 import loading as ks_loading
from keystoneauth1 import plugin as ksa_plugin
from keystoneauth1 import session as ksa_session
from oslo_config import cfg

from climate import exceptions
from climate.clients import sdk
from climate.clients.cinder import CinderBlockStorage
from climate.clients.cinder import MICROVERSION as VOLUME_MICROVERSION
from climate.clients.errors import Errors
from climate.clients.glance import GlanceImages
from climate.clients.neutron import NeutronNetworking
from climate.clients.nova import NovaCompute
from climate.clients.placement import MICROVERSION
from climate.clients.placement import PlacementClient

_OLDEST_COMPUTE = (2, 53)
_NEWEST_COMPUTE = (2, 87)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RealCloud:
    """Fulfils :class:`climate.clients.base.Cloud`."""

    compute: NovaCompute
    placement: PlacementClient
    image: GlanceImages
    network: NeutronNetworking
    volume: CinderBlockStorage


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Way:
    """A session and who we are in it."""

    session: ksa_session.Session
    auth: ksa_plugin.BaseAuthPlugin


def connect(conf: cfg.ConfigOpts) -> RealCloud:
    """Return the cloud that the groups of its services describe.

    Without an ``auth_type`` of its own, a service is called through the
    session of ``[nova]``.

    :param conf: parsed, with the options of :mod:`climate.conf` registered
    :raises climate.exceptions.ConfigurationError: if it cannot work
    """
    nova = _way(conf, 'nova')
    if nova is None:
        raise exceptions.ConfigurationError('[nova] auth_type is not set')
    placement = _way(conf, 'placement') or nova
    return RealCloud(
        compute=_compute(conf, nova),
        placement=_placement(conf, placement),
        image=GlanceImages(_service(conf, 'image', nova)),
        network=NeutronNetworking(_service(conf, 'network', nova)),
        volume=CinderBlockStorage(_service(conf, 'block-storage', nova, VOLUME_MICROVERSION)),
    )


def _service(
    conf: cfg.ConfigOpts, service_type: str, nova: _Way, microversion: str | None = None
) -> sdk.Service:
    """Return a service over openstacksdk.

    :param service_type: a key of :data:`climate.clients.sdk.GROUPS`
    :param nova: the way to it if its group names no other
    """
    way = _way(conf, sdk.GROUPS[service_type]) or nova
    return sdk.Service(conf, service_type, session=way.session, microversion=microversion)


def _way(conf: cfg.ConfigOpts, group: str) -> _Way | None:
    # Once more, after the files were read: an auth_section may have been named.
    ks_loading.register_auth_conf_options(conf, group)
    timeout = conf[group].timeout
    if not timeout or timeout <= 0:
        raise exceptions.ConfigurationError(f'[{group}] timeout must be above 0 seconds')
    try:
        auth = ks_loading.load_auth_from_conf_options(conf, group)
        if auth is None:
            return None
        session = ks_loading.load_session_from_conf_options(
            conf, group, auth=auth, app_name='climate'
        )
    except (ksa.AuthPluginException, TypeError, ValueError) as error:
        raise exceptions.ConfigurationError(f'[{group}] {error}') from None
    return _Way(session=session, auth=auth)


def _compute(conf: cfg.ConfigOpts, way: _Way) -> NovaCompute:
    group = conf.nova
    version = tuple(int(part) for part in group.compute_api_microversion.split('.'))
    if not _OLDEST_COMPUTE <= version <= _NEWEST_COMPUTE:
        raise exceptions.ConfigurationError(
            '[nova] compute_api_microversion must be from 2.53 to 2.87'
        )
    return NovaCompute(
        microversion=group.compute_api_microversion,
        errors=Errors('Nova', way.auth),
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


def _placement(conf: cfg.ConfigOpts, way: _Way) -> PlacementClient:
    try:
        adapter = ks_loading.load_adapter_from_conf_options(
            conf, 'placement', session=way.session, auth=way.auth, default_microversion=MICROVERSION
        )
    except TypeError as error:
        raise exceptions.ConfigurationError(f'[placement] {error}') from None
    return PlacementClient(adapter, Errors('Placement', way.auth))
