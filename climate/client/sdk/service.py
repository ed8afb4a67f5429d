# SPDX-License-Identifier: Apache-2.0

"""Registers the proxy with openstacksdk."""

from __future__ import annotations

from typing import Final
from typing import TYPE_CHECKING

from openstack import connection
from openstack import service_description

from climate.client.sdk import proxy

SERVICE_TYPE: Final = 'reservation'


if TYPE_CHECKING:
    # Older versions have no parameter.
    _Description = service_description.ServiceDescription[proxy.ReservationProxy]
else:
    _Description = service_description.ServiceDescription


class ReservationService(_Description):
    """The service, as openstacksdk finds it in a catalogue."""

    supported_versions = {'1': proxy.ReservationProxy}


def register(conn: connection.Connection) -> None:
    """Give a connection, and all later ones, the proxy as ``reservation``.

    ``vendor_hook`` in ``clouds.yaml`` can name this function.
    """
    conn.add_service(ReservationService(service_type=SERVICE_TYPE))
