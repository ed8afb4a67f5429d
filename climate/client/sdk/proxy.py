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

"""The proxy of the service in openstacksdk: ``conn.reservation``."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar
from typing import Final

import requests
from keystoneauth1 import discover
from openstack import proxy
from openstack import resource

from climate.client.sdk import bases
from climate.client.sdk import errors
from climate.client.sdk import hooks
from climate.client.sdk.allocations import ResourceAllocations
from climate.client.sdk.availability import Availability
from climate.client.sdk.hosts import ReservableHost
from climate.client.sdk.leases import Lease
from climate.client.sdk.offers import LeaseOffer
from climate.client.sdk.resources import ReservableResource

# The microversion that has a field of a lease. Version 1.0 ignores unknown fields, so that a
# lease without this check would be another one than the user requested.
_SINCE: Final[Mapping[str, str]] = {
    'duration': '1.1',
    'notify_before_start': '1.1',
    'notices': '1.3',
    'offer_id': '1.4',
}
_OFFERS: Final = '1.4'
_RESOURCES: Final = '1.2'


class ReservationProxy(hooks.HooksMixin, proxy.Proxy):
    """Leases, offers, availability, hosts and other resources.

    Objects can be given as ids or as what another method returned. Each method raises
    :class:`climate.client.sdk.errors.RefusedRequest` if the service refuses it, and
    :class:`climate.client.sdk.errors.ServiceTooOld` if the service lacks it.
    """

    api_version: ClassVar[str] = '1'
    _resource_registry = {
        'feed': hooks.LeaseFeed,
        'lease': Lease,
        'webhook': hooks.LeaseWebhook,
        'offer': LeaseOffer,
        'host': ReservableHost,
        'resource': ReservableResource,
    }

    def request(self, url: str, method: str, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a request; see :class:`openstack.proxy.Proxy`.

        :raises RefusedRequest: with the reasons and alternatives of the service
        """
        response = super().request(url, method, *args, **kwargs)
        errors.raise_for(response)
        return response

    def microversion(self) -> str:
        """Return the microversion of requests: the newest that both sides know."""
        found = bases.ReservationResource._get_microversion(self)
        return found or '1.0'

    def require(self, microversion: str, feature: str) -> None:
        """Check that requests can have a microversion.

        :param feature: what needs it, for the message
        :raises ServiceTooOld: if they cannot
        """
        present = self.microversion()
        number = discover.normalize_version_number
        if number(present) >= number(microversion):
            return
        chosen = 'you chose' if self.default_microversion else 'the service supports'
        raise errors.ServiceTooOld(
            f'Microversion {microversion} is required for {feature}, but {chosen} {present}'
        )

    def _check_fields(self, body: Mapping[str, Any]) -> None:
        for field, since in _SINCE.items():
            if body.get(field) is not None:
                self.require(since, field)
        for item in body.get('reservations') or ():
            for field, since in (('part_of', '1.3'), ('placement', '1.4')):
                if field in item:
                    self.require(since, field)

    # Leases

    def leases(self, **query: Any) -> Iterator[Lease]:
        """Yield leases.

        :param query: ``status``, ``name``, ``project_id``, ``resource_type``,
            ``start_before``, ``start_after``, ``end_before``, ``end_after``, ``sort_key``,
            ``sort_dir``, ``limit`` of a page
        """
        return self._list(Lease, **query)

    def get_lease(self, lease: str | Lease) -> Lease:
        """Return a lease."""
        return self._get(Lease, lease)

    def find_lease(self, name_or_id: str, ignore_missing: bool = True) -> Lease | None:
        """Return the lease of an id or a name.

        :param ignore_missing: whether a missing lease is None rather than an error
        :raises openstack.exceptions.DuplicateResource: if several have the name
        """
        found: Lease | None = self._find(Lease, name_or_id, ignore_missing=ignore_missing)
        return found

    def create_lease(self, **fields: Any) -> Lease:
        """Create a lease.

        :param fields: as in the API, such as ``name``, ``start_date``, ``end_date`` or
            ``duration``, and ``reservations``; or ``name`` and ``offer_id``
        """
        self._check_fields(fields)
        return self._create(Lease, **fields)

    def rehearse_lease(self, **fields: Any) -> dict[str, Any]:
        """Return what :meth:`create_lease` would book, without booking it.

        :returns: ``lease``, ``reservations`` with amounts, and ``filters_not_asked``
        """
        self.require('1.4', 'dry_run')
        self._check_fields(fields)
        answer = self._json('POST', Lease.base_path, {**fields, 'dry_run': True})
        found: dict[str, Any] = answer['dry_run']
        return found

    def update_lease(self, lease: str | Lease, **fields: Any) -> Lease:
        """Change a lease.

        :param fields: as in the API, such as ``name``, ``start_date``, ``end_date``
        """
        self._check_fields(fields)
        return self._update(Lease, lease, **fields)

    def delete_lease(self, lease: str | Lease, ignore_missing: bool = True) -> None:
        """Cancel or end a lease, and delete it."""
        self._delete(Lease, lease, ignore_missing=ignore_missing)

    def lease_extension(self, lease: str | Lease, latest: str | None = None) -> dict[str, Any]:
        """Return how far a lease can be extended.

        :param latest: the last end of interest; None for two weeks ahead
        :returns: ``end_date``, ``blocked_by``, ``offers`` and ``searched_until``
        """
        self.require('1.4', 'the extension of a lease')
        query = {} if latest is None else {'latest': latest}
        path = f'{Lease.base_path}/{resource.Resource._get_id(lease)}/extension'
        found: dict[str, Any] = self._json('GET', path, params=query)['extension']
        return found

    def lease_history(self, lease: str | Lease) -> list[dict[str, Any]]:
        """Return what the service did for a lease in the cloud, as JSON."""
        self.require('1.3', 'the history of a lease')
        path = f'{Lease.base_path}/{resource.Resource._get_id(lease)}/history'
        found: list[dict[str, Any]] = self._json('GET', path)['history']
        return found

    def wait_for_lease(
        self, lease: str | Lease, status: str = 'ACTIVE', interval: float = 2, wait: float = 600
    ) -> Lease:
        """Wait until a lease has a status.

        :param interval: seconds between two requests
        :param wait: seconds until it fails
        :raises openstack.exceptions.ResourceTimeout: if the lease does not have it in time
        :raises openstack.exceptions.ResourceFailure: if the lease fails or ends before
        """
        failures = [each for each in ('ERROR', 'TERMINATED') if each != status]
        found: Lease = resource.wait_for_status(
            self, self.get_lease(lease), status, failures, interval, wait
        )
        return found

    def wait_for_deleted_lease(
        self, lease: str | Lease, interval: float = 2, wait: float = 600
    ) -> None:
        """Wait until a deleted lease is gone; see :meth:`wait_for_lease`."""
        try:
            found = self.get_lease(lease)
        except errors.NotFoundRefusal:
            return
        resource.wait_for_delete(self, found, interval, wait)

    # Offers and availability

    def offers(self, reservations: Sequence[Mapping[str, Any]], **query: Any) -> list[LeaseOffer]:
        """Return periods in which reservations could be booked together.

        :param reservations: as in a lease
        :param query: ``duration`` or ``min_duration``, ``earliest``, ``latest``, ``limit``,
            ``hold``, ``prefer``, ``property``
        """
        self.require(_OFFERS, 'offers')
        body = {'reservations': list(reservations), **query}
        answer = self._json('POST', LeaseOffer.base_path, body)
        return [LeaseOffer.existing(**offer) for offer in answer['offers']]

    def get_offer(self, offer: str | LeaseOffer) -> LeaseOffer:
        """Return an offer."""
        self.require(_OFFERS, 'offers')
        return self._get(LeaseOffer, offer)

    def delete_offer(self, offer: str | LeaseOffer, ignore_missing: bool = True) -> None:
        """Release an offer."""
        self.require(_OFFERS, 'offers')
        self._delete(LeaseOffer, offer, ignore_missing=ignore_missing)

    def availability(self, resource_type: str, **query: Any) -> Availability:
        """Return how much of a resource type is free over time.

        :param query: ``start``, ``end``, ``step``, ``resources`` (``VCPU:2,MEMORY_MB:4096``),
            ``resource_properties``, ``group_by``
        """
        self.require('1.4', 'availability')
        given = {key: value for key, value in query.items() if value is not None}
        answer = self._json(
            'GET', Availability.base_path, params={'resource_type': resource_type, **given}
        )
        return Availability.existing(**answer['availability'])

    # Hosts and other resources

    def hosts(self) -> Iterator[ReservableHost]:
        """Yield the hosts that can be reserved."""
        return self._list(ReservableHost)

    def get_host(self, host: str | ReservableHost) -> ReservableHost:
        """Return a host."""
        return self._get(ReservableHost, host)

    def create_host(self, name: str, **properties: Any) -> ReservableHost:
        """Register a host; for administrators.

        :param name: the name of its hypervisor
        """
        return self._create(ReservableHost, name=name, **properties)

    def update_host(self, host: str | ReservableHost, **properties: Any) -> ReservableHost:
        """Change the properties of a host; for administrators."""
        return self._update(ReservableHost, host, **properties)

    def delete_host(self, host: str | ReservableHost, ignore_missing: bool = True) -> None:
        """Unregister a host; for administrators."""
        self._delete(ReservableHost, host, ignore_missing=ignore_missing)

    def resources(self, **query: Any) -> Iterator[ReservableResource]:
        """Yield resources of every type.

        :param query: ``type``, ``name``, ``sort_key``, ``sort_dir``, ``limit`` of a page
        """
        self.require(_RESOURCES, 'the list of resources')
        return self._list(ReservableResource, **query)

    def get_resource(self, resource: str | ReservableResource) -> ReservableResource:
        """Return a resource."""
        self.require(_RESOURCES, 'resources')
        return self._get(ReservableResource, resource)

    def allocations(self, **query: Any) -> Iterator[ResourceAllocations]:
        """Yield when resources are reserved.

        :param query: ``type``, ``lease_id``, ``reservation_id``
        """
        self.require(_RESOURCES, 'allocations')
        return self._list(ResourceAllocations, **query)

    def _json(self, method: str, path: str, body: Any = None, **kwargs: Any) -> dict[str, Any]:
        response = self.request(path, method, json=body, microversion=self.microversion(), **kwargs)
        found: dict[str, Any] = response.json()
        return found
