# SPDX-License-Identifier: Apache-2.0

"""Usage reports in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class UsageReport(bases.ReservationResource):
    """How much leases booked and used in a period."""

    resource_key = 'usage'
    base_path = '/usage'
    requires_id = False

    start = resource.Body('start')
    end = resource.Body('end')
    #: ``project``, ``type`` or ``class``.
    by = resource.Body('by')
    #: Dictionaries with ``booked``, ``used``, ``unused`` and ``ahead``, in units of the
    #: resource class multiplied by seconds.
    rows = resource.Body('rows', type=list)
