# SPDX-License-Identifier: Apache-2.0

"""A mechanism driver for ML2 of Neutron that binds every port without agents."""

from __future__ import annotations

from neutron_lib import constants
from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins.ml2 import api


class AlwaysBind(api.MechanismDriver):
    """Binds a port to the first of its segments, and reports it as active."""

    def initialize(self):
        """Do nothing, because there is nothing to set up."""

    def bind_port(self, context):
        """Bind the port of *context*."""
        for segment in context.segments_to_bind[:1]:
            context.set_binding(
                segment[api.ID],
                portbindings.VIF_TYPE_OVS,
                {portbindings.CAP_PORT_FILTER: False},
                status=constants.PORT_STATUS_ACTIVE,
            )
