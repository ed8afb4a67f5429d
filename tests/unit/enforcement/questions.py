# SPDX-License-Identifier: Apache-2.0

"""Questions for filters."""

from __future__ import annotations

import datetime
from typing import Any

from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.lifecycles import LeaseStatus
from climate.domain.periods import Period
from climate.domain.resources import Resource
from climate.enforcement.base import Action
from climate.enforcement.base import AllocatedLease
from climate.enforcement.base import FilterQuestion

NOON = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)
PROJECT = 'blue'


def at(seconds: float) -> datetime.datetime:
    """Return the instant so many seconds after noon."""
    return NOON + datetime.timedelta(seconds=seconds)


def terms(start: float = 0, end: float = 3600, **facts: Any) -> AllocatedLease:
    """Return a lease of two hosts, from and to so many seconds after noon."""
    facts.setdefault('status', LeaseStatus.PENDING)
    facts.setdefault('project_id', PROJECT)
    period = Period(start=at(start), end=at(end))
    reservation = Reservation(
        id='r1', lease_id='l1', resource_type='physical:host', request={'min': 2, 'max': 2}
    )
    return AllocatedLease(
        lease=Lease(
            id='l1',
            name='one',
            user_id='alice',
            period=period,
            reservations=(reservation,),
            **facts,
        ),
        allocations=tuple(
            Allocation(
                reservation_id='r1',
                resource_id=number,
                resource_name=f'compute-{number}',
                period=period,
            )
            for number in (1, 2)
        ),
        resources=tuple(
            Resource(
                id=number,
                resource_type='physical:host',
                name=f'compute-{number}',
                attributes={'hypervisor_hostname': f'compute-{number}.example.org', 'vcpus': 8},
                capabilities={'node_type': 'gpu', 'id': 'wrong'},
            )
            for number in (1, 2)
        ),
        descriptions={'r1': {'min': 2, 'max': 2, 'resource_properties': ''}},
    )


def creation(end: float = 3600, **facts: Any) -> FilterQuestion:
    """Return what is asked when somebody wants a lease."""
    return FilterQuestion(
        id='q1', action=Action.CREATE, user_id='alice', now=at(-60), terms=terms(end=end, **facts)
    )


def change(
    before: float, after: float, now: float, status: LeaseStatus = LeaseStatus.ACTIVE
) -> FilterQuestion:
    """Return what is asked when somebody wants a lease to end at another time."""
    return FilterQuestion(
        id='q2',
        action=Action.UPDATE,
        user_id='bob',
        now=at(now),
        terms=terms(end=after, status=status),
        current=terms(end=before, status=status),
    )


def charge(state: ChargeState, filter_name: str = 'external_service', **payload: Any) -> Charge:
    """Return a charge of which a filter is notified."""
    return Charge(
        charge_id='q1',
        filter_name=filter_name,
        lease_id='l1',
        state=state,
        payload=payload,
        due=NOON,
    )
