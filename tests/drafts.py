# SPDX-License-Identifier: Apache-2.0

"""Drafts of resources and leases for tests."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from climate.domain.requests import LeaseDraft
from climate.domain.resource_types import Declaration
from climate.domain.resource_types import Origin
from climate.domain.resources import ResourceDraft

# Like a type that is declared in a file.
RACKS = Declaration(
    name='custom:rack',
    description='Racks of the hall',
    noun='racks',
    announce=('hall',),
    origin=Origin.FILE,
)


def host(name: str, **capabilities: str) -> ResourceDraft:
    """Return the draft of a host."""
    return ResourceDraft(resource_type='physical:host', name=name, capabilities=capabilities)


def lease(
    start: datetime.datetime,
    end: datetime.datetime,
    *reservations: Mapping[str, Any],
    name: str = 'l',
    **facts: Any,
) -> LeaseDraft:
    """Return the draft of a lease whose dates are taken to the microsecond."""
    dates = {'start': start, 'end': end, 'grain': datetime.timedelta(0)}
    return LeaseDraft(name=name, reservations=reservations, **dates, **facts)
