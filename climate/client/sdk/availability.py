# SPDX-License-Identifier: Apache-2.0

"""Availability in openstacksdk."""

from __future__ import annotations

from openstack import resource

from climate.client.sdk import bases


class Availability(bases.ReservationResource):
    """How much of a resource type is free over time."""

    resource_key = 'availability'
    base_path = '/availability'
    requires_id = False

    allow_fetch = True

    resource_type = resource.Body('resource_type')
    start = resource.Body('start')
    end = resource.Body('end')
    #: Seconds of each bucket.
    step = resource.Body('step', type=int)
    #: The number of buckets.
    buckets = resource.Body('buckets', type=int)
    #: The demand by resource class.
    resources = resource.Body('resources', type=dict)
    #: The property by whose values the figures are grouped.
    group_by = resource.Body('group_by')
    #: The figures, for each value of the property.
    groups = resource.Body('groups', type=list)
