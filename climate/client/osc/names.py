# SPDX-License-Identifier: Apache-2.0

"""Looks up the ids of flavors, servers, images and networks that users name."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any
from typing import Final

from openstack import connection
from openstack import exceptions

from climate.client.reservations import Reservation

# The field of a reservation, and what finds its object in the cloud.
_FINDERS: Final[Mapping[str, Callable[[connection.Connection, str], Any]]] = {
    'flavor_id': lambda conn, name: conn.compute.find_flavor(name, ignore_missing=False),
    'flavor': lambda conn, name: conn.compute.find_flavor(name, ignore_missing=False),
    'server_id': lambda conn, name: conn.compute.find_server(name, ignore_missing=False),
    'network_id': lambda conn, name: conn.network.find_network(name, ignore_missing=False),
    'image_id': lambda conn, name: conn.image.find_image(name, ignore_missing=False),
    'image': lambda conn, name: conn.image.find_image(name, ignore_missing=False),
}
# The types whose fields these are: a field of another type can have the same name and be anything.
_FIELDS: Final[Mapping[str, Collection[str]]] = {
    'flavor:instance': ('flavor_id',),
    'virtual:server': ('server_id', 'flavor', 'image', 'networks'),
    'virtual:volume': ('image_id',),
    'virtual:floatingip': ('network_id',),
}
# Without Keystone there is no catalogue: only the address of this service is known.
_ALONE: Final = frozenset({'none', 'noauth', 'admin_token', 'http_basic'})
_UUIDS: Final = frozenset({'server_id', 'network_id', 'image', 'image_id'})


def resolve(conn: connection.Connection, reservations: Iterable[Reservation]) -> list[Reservation]:
    """Return reservations with ids in place of names.

    :raises openstack.exceptions.NotFoundException: if the cloud lacks an object
    :raises openstack.exceptions.DuplicateResource: if several have the name
    """
    return [
        {
            field: _id(conn, field, value) if field in _fields(each) else value
            for field, value in each.items()
        }
        for each in reservations
    ]


def _fields(reservation: Reservation) -> Collection[str]:
    return _FIELDS.get(str(reservation.get('resource_type')), ())


def _networks(conn: connection.Connection, networks: Iterable[Any]) -> list[Any]:
    """Return the networks of a server with ids in place of names."""
    return [
        {**each, 'uuid': _id(conn, 'network_id', each['uuid'])} if 'uuid' in each else each
        for each in networks
    ]


def _id(conn: connection.Connection, field: str, value: Any) -> Any:
    if field == 'networks' and isinstance(value, list):
        return _networks(conn, value)
    if _is_uuid(value):
        return value
    noun = field.removesuffix('_id')
    if conn.config.config.get('auth_type') in _ALONE:
        if field in _UUIDS:
            raise exceptions.NotFoundException(
                f'{value!r} is no ID: without Keystone, the {noun} cannot be found by its name'
            )
        return value
    try:
        return _FINDERS[field](conn, str(value)).id
    except exceptions.NotFoundException:
        raise exceptions.NotFoundException(f'There is no {noun} {value!r}') from None


def _is_uuid(value: Any) -> bool:
    try:
        return bool(uuid.UUID(str(value)))
    except ValueError:
        return False
