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
