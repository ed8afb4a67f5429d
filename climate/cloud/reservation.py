# SPDX-License-Identifier: Apache-2.0

"""A client of Climate's own API, over keystoneauth, for separate processes.

It has only what climate-power calls. The proxy of :mod:`climate.client.sdk` does the same,
but with openstacksdk: climate-power would start with a fifth more processor time, and keep
12 MiB more.
"""

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
from climate.cloud import sessions
from climate.cloud.errors import Errors

MICROVERSION: Final = '1.3'
LEAD_TIME: Final = 'lead_time'
AWAKE: Final = 'awake'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """A host that can be reserved.

    :ivar name: hypervisor hostname
    :ivar service_host: the name in Nova's services and aggregates
    :ivar reservable: whether it can be booked
    :ivar lead_time: the value of the property ``lead_time``; '' without one
    :ivar awake: the value of the property ``awake``; '' without one
    """

    id: str
    name: str
    service_host: str
    reservable: bool
    lead_time: str = ''
    awake: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Busy:
    """A period in which a host is reserved: *start* to before *end* (aware UTC)."""

    lease_id: str
    start: datetime.datetime
    end: datetime.datetime


class ReservationClient:
    """Calls the methods of the API that an administrator may use.

    :param adapter: for the service type ``reservation``; raises for errors
    :param errors: for Climate
    """

    def __init__(self, adapter: ksa_adapter.Adapter, errors: Errors) -> None:
        self._adapter = adapter
        self._errors = errors

    def list_hosts(self) -> tuple[Host, ...]:
        """Return all registered hosts."""
        with self._errors.translated('list_hosts'):
            return tuple(_host(item) for item in self._adapter.get('/os-hosts').json()['hosts'])

    def list_allocations(self) -> Mapping[str, tuple[Busy, ...]]:
        """Return the reserved periods of all hosts, by host id."""
        with self._errors.translated('list_allocations'):
            found = self._adapter.get('/os-hosts/allocations').json()['allocations']
            return {item['resource_id']: _busy(item) for item in found}

    def find_allocations(self, host_id: str) -> tuple[Busy, ...]:
        """Return the reserved periods of a host.

        :raises climate.cloud.base.CloudNotFound: if the host is not registered
        """
        with self._errors.translated('find_allocations'):
            answer = self._adapter.get(f'/os-hosts/{host_id}/allocation')
            return _busy(answer.json()['allocation'])

    def set_properties(self, host_id: str, properties: Mapping[str, str]) -> None:
        """Set properties of a host.

        ``lead_time``, in seconds, requests a notification this long before each lease
        of the host starts.

        :raises climate.cloud.base.CloudNotFound: if the host is not registered
        :raises climate.cloud.base.CloudConflict: if a reservation requires the old value
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
        """Report which resources of a lease are ready for use.

        :raises climate.cloud.base.CloudNotFound: if the lease does not exist
        :raises climate.cloud.base.CloudConflict: if the lease has ended
        """
        body = {'ready': list(ready), 'waiting': list(waiting), 'by': by, 'detail': detail}
        with self._errors.translated('say_readiness'):
            self._adapter.post(f'/leases/{lease_id}/readiness', json=body)


def connect(conf: cfg.ConfigOpts, group: str) -> ReservationClient:
    """Return a client that a group of options configures.

    :raises climate.exceptions.ConfigurationError: if the configuration is invalid
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
