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

"""Climate's own API, for separate processes, over keystoneauth."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import loading as ks_loading
from oslo_config import cfg

from climate import exceptions
from climate.clients import sessions
from climate.clients.errors import Errors

MICROVERSION: Final = '1.3'
LEAD_TIME: Final = 'lead_time'
AWAKE: Final = 'awake'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """A host that can be reserved.

    :ivar name: hypervisor hostname
    :ivar service_host: as Nova's services and aggregates know it
    :ivar reservable: whether it can be booked now
    :ivar lead_time: what its property of this name says; '' if it has none
    :ivar awake: likewise
    """

    id: str
    name: str
    service_host: str
    reservable: bool
    lead_time: str = ''
    awake: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Busy:
    """A time for which a host is reserved, from *start* to before *end* (aware UTC)."""

    lease_id: str
    start: datetime.datetime
    end: datetime.datetime


class ReservationClient:
    """What Climate answers to an administrator.

    :param adapter: for the service type ``reservation``; raises for errors
    :param errors: for Climate
    """

    def __init__(self, adapter: ksa_adapter.Adapter, errors: Errors) -> None:
        self._adapter = adapter
        self._errors = errors

    def list_hosts(self) -> tuple[Host, ...]:
        """Return every host that is known to Climate."""
        with self._errors.translated('list_hosts'):
            return tuple(_host(item) for item in self._adapter.get('/os-hosts').json()['hosts'])

    def list_allocations(self) -> Mapping[str, tuple[Busy, ...]]:
        """Return when hosts are reserved, by their ids."""
        with self._errors.translated('list_allocations'):
            found = self._adapter.get('/os-hosts/allocations').json()['allocations']
            return {item['resource_id']: _busy(item) for item in found}

    def find_allocations(self, host_id: str) -> tuple[Busy, ...]:
        """Return when a host is reserved.

        :raises climate.clients.base.CloudNotFound: if Climate does not have it
        """
        with self._errors.translated('find_allocations'):
            answer = self._adapter.get(f'/os-hosts/{host_id}/allocation')
            return _busy(answer.json()['allocation'])

    def set_properties(self, host_id: str, properties: Mapping[str, str]) -> None:
        """Say something of a host.

        ``lead_time`` requests a notification of its leases so many seconds before
        they start.

        :raises climate.clients.base.CloudNotFound: if Climate does not have it
        :raises climate.clients.base.CloudConflict: if a reservation needs it as it is
        """
        with self._errors.translated('set_properties'):
            self._adapter.put(f'/os-hosts/{host_id}', json=dict(properties))

    def say_readiness(
        self,
        lease_id: str,
        *,
        ready: Sequence[str],
        waiting: Sequence[str],
        by: str,
        detail: str = '',
    ) -> None:
        """Say which resources of a lease can be used.

        :raises climate.clients.base.CloudNotFound: if there is no such lease
        :raises climate.clients.base.CloudConflict: if it is over
        """
        body = {'ready': list(ready), 'waiting': list(waiting), 'by': by, 'detail': detail}
        with self._errors.translated('say_readiness'):
            self._adapter.post(f'/leases/{lease_id}/readiness', json=body)


def connect(conf: cfg.ConfigOpts, group: str) -> ReservationClient:
    """Return the Climate that a group of the configuration leads to.

    :raises climate.exceptions.ConfigurationError: if it cannot work
    """
    session = sessions.service_session(conf, group)
    try:
        adapter = ks_loading.load_adapter_from_conf_options(
            conf,
            group,
            session=session.session,
            auth=session.auth,
            default_microversion=MICROVERSION,
        )
    except TypeError as error:
        raise exceptions.ConfigurationError(f'[{group}] {error}') from None
    return ReservationClient(adapter, session.errors('Climate'))


def _host(item: Mapping[str, Any]) -> Host:
    return Host(
        id=str(item['id']),
        name=item['hypervisor_hostname'],
        service_host=item['service_name'] or item['hypervisor_hostname'],
        reservable=bool(item['reservable']),
        lead_time=str(item.get(LEAD_TIME) or ''),
        awake=str(item.get(AWAKE) or ''),
    )


def _busy(item: Mapping[str, Any]) -> tuple[Busy, ...]:
    return tuple(
        Busy(
            lease_id=one['lease_id'],
            start=datetime.datetime.fromisoformat(one['start_date']),
            end=datetime.datetime.fromisoformat(one['end_date']),
        )
        for one in item['reservations']
    )
