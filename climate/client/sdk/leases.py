# SPDX-License-Identifier: Apache-2.0

"""Leases in openstacksdk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from openstack import resource

from climate.client.sdk import bases

SINCE: Final[Mapping[str, str]] = {
    'duration': '1.1',
    'notify_before_start': '1.1',
    'notices': '1.3',
    'offer_id': '1.4',
    'end_reason': '1.5',
    'earliest': '1.8',
    'latest': '1.8',
    'firm_before': '1.8',
    'wait': '1.8',
    'wait_until': '1.8',
    'preemptible': '1.8',
    'yield': '1.8',
    'min_duration': '1.8',
    'preempt_own': '1.8',
    'priority': '1.8',
}
"""The microversions that have a field of a lease, of those that requests can have.

Version 1.0 ignores unknown fields, so that a lease without this check would be another one than
the user requested.
"""


class Lease(bases.ManagedResource):
    """A contract of a project: resources for a period.

    Times are ISO 8601 in UTC.
    """

    resource_key = 'lease'
    resources_key = 'leases'
    base_path = '/leases'

    _query_mapping = resource.QueryParameters(
        'status',
        'name',
        'project_id',
        'resource_type',
        'user',
        'user_id',
        'start_before',
        'start_after',
        'end_before',
        'end_after',
        'sort_key',
        'sort_dir',
    )

    #: The start.
    start_date = resource.Body('start_date')
    #: The end.
    end_date = resource.Body('end_date')
    #: Instead of the end, in requests: such as ``4h``.
    duration = resource.Body('duration')
    #: The offer that a new lease takes, in requests.
    offer_id = resource.Body('offer_id')
    #: When the owner is notified of the end; None for the operator's default.
    before_end_date = resource.Body('before_end_date')
    #: Seconds before the start at which subscribers are notified.
    notify_before_start = resource.Body('notify_before_start', type=list)
    #: The emails that the owner receives.
    notices = resource.Body('notices', type=list)
    #: Such as PENDING, ACTIVE, TERMINATED or ERROR.
    status = resource.Body('status')
    #: Whether resources are missing or were replaced.
    is_degraded = resource.Body('degraded', type=bool)
    #: The items of the lease, as the API describes them.
    reservations = resource.Body('reservations', type=list)
    #: What happens to the lease, and when.
    events = resource.Body('events', type=list)
    #: Why it ends then, if its end was changed for a reason.
    end_reason = resource.Body('end_reason')
    #: The earliest start of a flexible lease (1.8); None if its start is fixed.
    earliest = resource.Body('earliest')
    #: The latest end of a flexible lease (1.8); None for any.
    latest = resource.Body('latest')
    #: How many seconds before its start a flexible lease stops moving (1.8).
    firm_before = resource.Body('firm_before')
    #: Whether it waits if there is no room (1.8); only in requests.
    wait = resource.Body('wait', type=bool)
    #: Until when it waits for room at most (1.8).
    wait_until = resource.Body('wait_until')
    #: Whether it is in time slices, and yields to leases that are not (1.8).
    preemptible = resource.Body('preemptible', type=bool)
    #: What becomes of it then: suspend, requeue or end (1.8).
    yields = resource.Body('yield')
    #: How many seconds a slice of it lasts at least (1.8).
    min_duration = resource.Body('min_duration')
    #: Its priority (1.8); plans look at a higher one first.
    priority = resource.Body('priority')
    #: Whether it may preempt leases of its own project (1.8); only in requests.
    preempt_own = resource.Body('preempt_own', type=bool)
    #: How many seconds are left from the start of its present slice on (1.8).
    time_left = resource.Body('time_left')
    #: When a flexible lease stops moving (1.8).
    firm_at = resource.Body('firm_at')
    #: The last report of ready resources.
    readiness = resource.Body('readiness', type=dict)
    user_id = resource.Body('user_id')
    #: The name of the user at its creation (1.7); None for older leases.
    user_name = resource.Body('user_name')
    project_id = resource.Body('project_id')
    #: The name of the project at its creation (1.7); None for older leases.
    project_name = resource.Body('project_name')
    trust_id = resource.Body('trust_id')
    created_at = resource.Body('created_at')
    updated_at = resource.Body('updated_at')
