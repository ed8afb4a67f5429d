# SPDX-License-Identifier: Apache-2.0

"""The proxy of the service in openstacksdk: ``conn.reservation``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar
from typing import Final

from openstack import exceptions
from openstack import resource

from climate.client.sdk import errors
from climate.client.sdk import hooks
from climate.client.sdk.availability import Availability
from climate.client.sdk.calendars import CalendarColumns
from climate.client.sdk.floating_ips import ReservableAddress
from climate.client.sdk.histories import LeaseHistory
from climate.client.sdk.hosts import ReservableHost
from climate.client.sdk.leases import Lease
from climate.client.sdk.maintenances import ResourceMaintenance
from climate.client.sdk.offers import LeaseOffer
from climate.client.sdk.queues import LeaseInQueue
from climate.client.sdk.requests import path_of
from climate.client.sdk.resource_requests import ResourceRequests
from climate.client.sdk.resource_types import ReservableType
from climate.client.sdk.resources import ReservableResource
from climate.client.sdk.usage import UsageReport

SEPARATORS: Final = re.compile('[/?#%]')
"""What separates the parts of a URL, or is decoded in it; no id has it."""

_OFFERS: Final = '1.4'


class ReservationProxy(hooks.HooksMixin, ResourceRequests):
    """Leases, offers, availability, resources and maintenances.

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
        'resource_type': ReservableType,
        'maintenance': ResourceMaintenance,
        'floating_ip': ReservableAddress,
    }

    # Leases

    def leases(self, **query: Any) -> Iterator[Lease]:
        """Yield leases.

        :param query: ``status``, ``name``, ``project_id``, ``resource_type``, ``user`` (``me``)
            or ``user_id``,
            ``start_before``, ``start_after``, ``end_before``, ``end_after``, ``sort_key``,
            ``sort_dir``, ``limit`` of a page
        """
        # Not _list(), which has a parameter resource_type of its own.
        listed: Iterator[Lease] = Lease.list(self, **query)
        return listed

    def get_lease(self, lease: str | Lease) -> Lease:
        """Return a lease."""
        return self._get(Lease, lease)

    def find_lease(self, name_or_id: str, ignore_missing: bool = True) -> Lease | None:
        """Return the lease of an id or a name.

        :param ignore_missing: whether a missing lease is None rather than an error
        :raises openstack.exceptions.DuplicateResource: if several have the name
        """
        if SEPARATORS.search(name_or_id):
            # No id, and the URL with it would be that of something else.
            return self._named_lease(name_or_id, ignore_missing)
        lease: Lease | None = self._find(Lease, name_or_id, ignore_missing=ignore_missing)
        return lease

    def _named_lease(self, name: str, ignore_missing: bool) -> Lease | None:
        query = {} if self.microversion() == '1.0' else {'name': name}
        named = [each for each in self.leases(**query) if each.name == name]
        if len(named) > 1:
            raise exceptions.DuplicateResource(f'Several leases have the name {name!r}')
        if not named and not ignore_missing:
            raise exceptions.NotFoundException(f'There is no lease {name!r}')
        return named[0] if named else None

    def create_lease(self, **fields: Any) -> Lease:
        """Create a lease.

        :param fields: as in the API, such as ``name``, ``start_date``, ``end_date`` or
            ``duration``, and ``reservations``; or ``name`` and ``offer_id``
        """
        self.check_fields(fields)
        return self._create(Lease, **fields)

    def rehearse_lease(self, **fields: Any) -> dict[str, Any]:
        """Return what :meth:`create_lease` would book, without booking it.

        :returns: ``lease``, ``reservations`` with amounts, ``filters_not_asked``, and, from 1.8,
            ``displaced``
        """
        self.require('1.4', 'dry_run')
        self.check_fields(fields)
        answer = self.json('POST', Lease.base_path, {**fields, 'dry_run': True})
        rehearsed: dict[str, Any] = answer['dry_run']
        return rehearsed

    def update_lease(self, lease: str | Lease, **fields: Any) -> Lease:
        """Change a lease.

        :param fields: as in the API, such as ``name``, ``start_date``, ``end_date``
        """
        self.check_fields(fields)
        return self._update(Lease, lease, **fields)

    def rehearse_update(self, lease: str | Lease, **fields: Any) -> dict[str, Any]:
        """Return what :meth:`update_lease` would book, without changing the lease.

        :returns: as of :meth:`rehearse_lease`
        """
        self.require('1.4', 'dry_run')
        self.check_fields(fields)
        path = Lease.base_path + path_of(lease)
        rehearsed: dict[str, Any] = self.json('PUT', path, {**fields, 'dry_run': True})['dry_run']
        return rehearsed

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
        path = Lease.base_path + path_of(lease, '/extension')
        extension: dict[str, Any] = self.json('GET', path, params=query)['extension']
        return extension

    def queue(self, **query: Any) -> Iterator[LeaseInQueue]:
        """Yield the flexible leases that may still move or wait, in the order of requests.

        :param query: ``resource_type``, ``lease_id``, ``limit`` of a page
        """
        self.require('1.8', 'the queue')
        # Not _list(), which has a parameter resource_type of its own.
        listed: Iterator[LeaseInQueue] = LeaseInQueue.list(self, **query)
        return listed

    def lease_history(self, lease: str | Lease) -> LeaseHistory:
        """Return what the service did for a lease in the cloud."""
        self.require('1.3', 'the history of a lease')
        lease_id = resource.Resource._get_id(lease)
        return self._get(LeaseHistory, lease_id=lease_id, requires_id=False)

    def reallocate_lease(
        self,
        lease: str | Lease,
        reservation_id: str,
        *,
        resource_name: str | None = None,
        resource_id: str | None = None,
        reason: str = '',
        force: bool = False,
    ) -> Lease:
        """Replace a resource of a lease with another one.

        :param reservation_id: the reservation that has the resource
        :param resource_name: the resource to replace; or its id in *resource_id*
        :param reason: why, for the owner of the lease
        :param force: replace it even if it is in use; for administrators. What runs on it is
            lost
        """
        self.require('1.2', 'reallocation')
        given = {'resource_name': resource_name, 'resource_id': resource_id}
        body: dict[str, Any] = {
            'reservation_id': reservation_id,
            **{key: value for key, value in given.items() if value is not None},
            **({'reason': reason} if reason else {}),
            **({'force': True} if force else {}),
        }
        return self.answered(Lease, 'POST', path_of(lease, '/reallocate'), body)

    def report_readiness(self, lease: str | Lease, **report: Any) -> Lease:
        """Record which resources of a lease are ready; for services that prepare them.

        :param report: ``ready``, ``waiting``, ``by`` and ``detail``
        """
        self.require('1.3', 'readiness')
        return self.answered(Lease, 'POST', path_of(lease, '/readiness'), report)

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
        reached: Lease = resource.wait_for_status(
            self, self.get_lease(lease), status, failures, interval, wait
        )
        return reached

    def wait_for_deleted_lease(
        self, lease: str | Lease, interval: float = 2, wait: float = 600
    ) -> None:
        """Wait until a deleted lease is gone; see :meth:`wait_for_lease`."""
        try:
            present = self.get_lease(lease)
        except errors.NotFoundRefusal:
            return
        resource.wait_for_delete(self, present, interval, wait)

    # Offers and availability

    def offers(self, reservations: Sequence[Mapping[str, Any]], **query: Any) -> list[LeaseOffer]:
        """Return periods in which reservations could be booked together.

        :param reservations: as in a lease
        :param query: ``duration`` or ``min_duration``, ``earliest``, ``latest``, ``limit``,
            ``hold``, ``prefer``, ``property``
        """
        return self.offer_page(reservations, **query)[0]

    def offer_page(
        self, reservations: Sequence[Mapping[str, Any]], **query: Any
    ) -> tuple[list[LeaseOffer], str]:
        """Return offers, and how far the service searched: no earlier start was overlooked.

        The service ends a long search early; continue it with ``earliest``.

        :param query: as in :meth:`offers`
        """
        self.require(_OFFERS, 'offers')
        self.check_reservations(reservations)
        body = {'reservations': list(reservations), **query}
        answer = self.json('POST', LeaseOffer.base_path, body)
        offers = [LeaseOffer.existing(**offer) for offer in answer['offers']]
        return offers, str(answer['searched_until'])

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
        self.check_requirement(query.get('resource_properties'))
        given = {key: value for key, value in query.items() if value is not None}
        params = {'resource_type': resource_type, **given}
        return self.answered(Availability, 'GET', '', params=params)

    def calendar(self, resource_type: str, **query: Any) -> CalendarColumns:
        """Return a page of when resources of a type are reserved.

        :param query: ``start``, ``end``, ``limit``, ``marker``, ``offset``, ``search``,
            ``group_by``, ``mine``, ``lease_id``
        """
        self.require('1.5', 'the calendar')
        params = {'resource_type': resource_type, **query}
        return self.answered(CalendarColumns, 'GET', '', params=params)

    def usage(self, **query: Any) -> UsageReport:
        """Return how much leases booked and used in a period; for administrators.

        :param query: ``start``, ``end``, ``by`` (``project``, ``type`` or ``class``),
            ``project_id``, ``resource_type``
        """
        self.require('1.5', 'usage reports')
        return self.answered(UsageReport, 'GET', '', params=query)

    def me(self) -> dict[str, Any]:
        """Return the user and project of the token, and what they may do."""
        self.require('1.5', 'the caller')
        caller: dict[str, Any] = self.json('GET', '/me')['me']
        return caller
