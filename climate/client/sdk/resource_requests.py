# SPDX-License-Identifier: Apache-2.0

"""Requests about resources: hosts, other resources, their types, maintenances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from typing import Final

from openstack import exceptions

from climate.client.sdk.floating_ips import ReservableAddress
from climate.client.sdk.hosts import ReservableHost
from climate.client.sdk.maintenances import ResourceMaintenance
from climate.client.sdk.requests import path_of
from climate.client.sdk.requests import ReservationRequests
from climate.client.sdk.resource_types import ReservableType
from climate.client.sdk.resources import ReservableResource
from climate.client.sdk.resources import ResourceAllocations
from climate.client.sdk.resources import ResourceProperty

_SINCE: Final = '1.2'


class ResourceRequests(ReservationRequests):
    """The methods of ``conn.reservation`` for resources."""

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
        self.require(_SINCE, 'the list of resources')
        return self._list(ReservableResource, **query)

    def get_resource(self, resource: str | ReservableResource) -> ReservableResource:
        """Return a resource."""
        self.require(_SINCE, 'resources')
        return self._get(ReservableResource, resource)

    def allocations(self, **query: Any) -> Iterator[ResourceAllocations]:
        """Yield when resources are reserved.

        :param query: ``type``, ``lease_id``, ``reservation_id``
        """
        self.require(_SINCE, 'allocations')
        return self._list(ResourceAllocations, **query)

    def get_resource_allocations(self, resource: str | ReservableResource) -> ResourceAllocations:
        """Return when a resource is reserved."""
        self.require(_SINCE, 'allocations')
        path = ReservableResource.base_path + path_of(resource, '/allocations')
        return ResourceAllocations.existing(**self.json('GET', path)['allocation'])

    def find_resource(
        self, name_or_id: str, resource_type: str | None = None
    ) -> ReservableResource:
        """Return the resource of an id or a name.

        :param resource_type: the type, in which a name is unique
        :raises openstack.exceptions.NotFoundException: if there is none
        :raises openstack.exceptions.DuplicateResource: if several have the name
        """
        query = {'name': name_or_id, **({'type': resource_type} if resource_type else {})}
        named = list(self.resources(**query))
        if not named and name_or_id.isascii() and name_or_id.isdigit():
            return self.get_resource(name_or_id)
        if not named:
            raise exceptions.NotFoundException(f'There is no resource {name_or_id!r}')
        if len(named) > 1:
            types = ', '.join(sorted(each.resource_type for each in named))
            raise exceptions.DuplicateResource(
                f'Resources of several types have the name {name_or_id!r}: {types}'
            )
        return named[0]

    def create_resource(
        self, resource_type: str, name: str | None = None, **fields: Any
    ) -> ReservableResource:
        """Register a resource; for administrators.

        :param name: None for types whose resources are named after their attributes
        :param fields: ``attributes``, ``properties``, ``inventories``
        """
        self.require(_SINCE, 'resources')
        body = {'resource_type': resource_type, **({'name': name} if name else {}), **fields}
        return self.answered(ReservableResource, 'POST', '', body)

    def update_resource(
        self, resource: str | ReservableResource, **fields: Any
    ) -> ReservableResource:
        """Change a resource; for administrators.

        :param fields: ``properties``, with None for those to remove; ``inventories``,
            ``disabled``; ``name``, if the cloud has changed it
        """
        self.require(*(('1.6', 'new names') if 'name' in fields else (_SINCE, 'resources')))
        return self.answered(ReservableResource, 'PUT', path_of(resource), fields)

    def refresh_resource(self, resource: str | ReservableResource) -> ReservableResource:
        """Read a resource again from the cloud; for administrators."""
        self.require('1.6', 'refreshing resources')
        return self.answered(ReservableResource, 'POST', path_of(resource, '/refresh'))

    def delete_resource(
        self, resource: str | ReservableResource, ignore_missing: bool = True
    ) -> None:
        """Unregister a resource; for administrators."""
        self.require(_SINCE, 'resources')
        self._delete(ReservableResource, resource, ignore_missing=ignore_missing)

    def resource_properties(self, **query: Any) -> Iterator[ResourceProperty]:
        """Yield the properties that resources have.

        :param query: ``type``, which is required, ``detail``, ``all``
        """
        self.require(_SINCE, 'the list of properties')
        return self._list(ResourceProperty, **query)

    def counted_properties(self, resource_type: str, **query: Any) -> dict[str, Any]:
        """Return what requirements can compare, with the number of resources of each value.

        :param query: ``all``
        :returns: ``resource_properties``, also those that the cloud sets, and ``traits``
        """
        self.require('1.7', 'the values of properties')
        params = {'type': resource_type, 'values': True, **query}
        return self.json('GET', ResourceProperty.base_path, params=params)

    def update_resource_property(
        self, name: str, private: bool, resource_type: str
    ) -> ResourceProperty:
        """Hide a property from users, or show it; for administrators.

        :param resource_type: whose resources have it
        """
        self.require(_SINCE, 'properties')
        query = {'type': resource_type}
        path = f'{ResourceProperty.base_path}/{name}'
        answer = self.json('PATCH', path, {'private': private}, params=query)['resource_property']
        return ResourceProperty.existing(property=answer['property_name'], **answer)

    # Resource types

    def resource_types(self) -> Iterator[ReservableType]:
        """Yield the types of resources that can be reserved."""
        self.require(_SINCE, 'resource types')
        return self._list(ReservableType)

    def get_resource_type(self, name: str | ReservableType) -> ReservableType:
        """Return a resource type."""
        self.require(_SINCE, 'resource types')
        return self._get(ReservableType, name)

    def create_resource_type(self, name: str, **fields: Any) -> ReservableType:
        """Declare a resource type; for administrators.

        :param name: such as ``custom:licence``
        :param fields: ``description``, ``exclusive``, ``noun``, ``classes``, ``announce``
        """
        self.require(_SINCE, 'resource types')
        return self.answered(ReservableType, 'POST', '', {'name': name, **fields})

    def update_resource_type(self, name: str | ReservableType, **fields: Any) -> ReservableType:
        """Change a declared resource type; for administrators."""
        self.require(_SINCE, 'resource types')
        return self.answered(ReservableType, 'PUT', path_of(name), fields)

    def delete_resource_type(self, name: str | ReservableType, ignore_missing: bool = True) -> None:
        """Delete a declared resource type; for administrators."""
        self.require(_SINCE, 'resource types')
        self._delete(ReservableType, name, ignore_missing=ignore_missing)

    # Maintenances

    def maintenances(self) -> Iterator[ResourceMaintenance]:
        """Yield current and future maintenances, ordered by start; for administrators."""
        self.require(_SINCE, 'maintenances')
        return self._list(ResourceMaintenance)

    def get_maintenance(self, maintenance: str | ResourceMaintenance) -> ResourceMaintenance:
        """Return a maintenance."""
        self.require(_SINCE, 'maintenances')
        return self._get(ResourceMaintenance, maintenance)

    def create_maintenance(self, **fields: Any) -> ResourceMaintenance:
        """Announce a maintenance; for administrators.

        :param fields: ``resource_id``, or ``resource_type`` and ``resource_name``;
            ``start_date``, ``end_date``, ``reason``
        """
        self.require(_SINCE, 'maintenances')
        return self._create(ResourceMaintenance, **fields)

    def update_maintenance(
        self, maintenance: str | ResourceMaintenance, **fields: Any
    ) -> ResourceMaintenance:
        """Change a maintenance; for administrators.

        :param fields: ``start_date``, ``end_date``, ``reason``
        """
        self.require('1.5', 'changes of maintenances')
        return self.answered(ResourceMaintenance, 'PUT', path_of(maintenance), fields)

    def delete_maintenance(
        self, maintenance: str | ResourceMaintenance, ignore_missing: bool = True
    ) -> None:
        """Cancel a maintenance; for administrators."""
        self.require(_SINCE, 'maintenances')
        self._delete(ResourceMaintenance, maintenance, ignore_missing=ignore_missing)

    # Floating IPs

    def floating_ips(self) -> Iterator[ReservableAddress]:
        """Yield the floating IPs that can be reserved; for administrators."""
        return self._list(ReservableAddress)

    def get_floating_ip(self, address: str | ReservableAddress) -> ReservableAddress:
        """Return a floating IP."""
        return self._get(ReservableAddress, address)

    def create_floating_ip(self, network_id: str, address: str) -> ReservableAddress:
        """Register a floating IP; for administrators.

        :param network_id: the external network
        :param address: the address, such as ``203.0.113.200``
        """
        return self._create(
            ReservableAddress, floating_network_id=network_id, floating_ip_address=address
        )

    def delete_floating_ip(
        self, address: str | ReservableAddress, ignore_missing: bool = True
    ) -> None:
        """Unregister a floating IP; for administrators."""
        self._delete(ReservableAddress, address, ignore_missing=ignore_missing)
