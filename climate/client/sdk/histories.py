# SPDX-License-Identifier: Apache-2.0

"""What was done for a lease, in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class LeaseHistory(bases.ReservationResource):
    """What the service did for a lease in the cloud, and what is still to come."""

    resource_key = 'history'
    base_path = '/leases/%(lease_id)s/history'
    requires_id = False

    allow_fetch = True

    lease_id = resource.URI('lease_id')
    #: An entry for each effect on each reservation, in the order in which they began, with
    #: ``effect``, ``state``, ``attempts``, ``first_at``, ``last_at``, ``waiting_for``,
    #: ``error`` and ``lines``.
    steps = resource.Body('steps', type=list)
    #: The events still to come, with ``event_type``, ``time``, ``due`` and ``why``.
    awaited = resource.Body('awaited', type=list)
