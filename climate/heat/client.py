# SPDX-License-Identifier: Apache-2.0

"""The client plugin of Heat for the service type ``reservation``."""

from __future__ import annotations

from typing import Any
from typing import cast
from typing import Final

from heat.engine.clients import client_plugin
from openstack import connection
from openstack import exceptions
from openstack.config import cloud_region

from climate.client.sdk import service
from climate.client.sdk.proxy import ReservationProxy

NAME: Final = 'climate'
"""The name of the plugin among the entry points ``heat.clients``."""


class ClimateClientPlugin(client_plugin.ClientPlugin):
    """Sends requests to Climate with the token of the user of a stack."""

    exceptions_module = exceptions
    service_types = [service.SERVICE_TYPE]

    def _create(self, version: str | None = None) -> ReservationProxy:
        interface = self._get_client_option(NAME, 'endpoint_type')
        config = cloud_region.from_session(
            name=NAME,
            session=self.context.keystone_session,
            config={f'{service.SERVICE_TYPE}_interface': interface},
            region_name=self._get_region_name(),
            app_name='heat',
        )
        conn = connection.Connection(config=config)
        service.register(conn)
        return cast(ReservationProxy, conn.reservation)

    def is_not_found(self, ex: Any) -> bool:
        """Return whether an exception means that the object does not exist."""
        return isinstance(ex, exceptions.NotFoundException)

    def is_conflict(self, ex: Any) -> bool:
        """Return whether an exception means that the state does not allow a request."""
        return isinstance(ex, exceptions.ConflictException)
