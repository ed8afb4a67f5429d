# SPDX-License-Identifier: Apache-2.0

"""Maintenance periods of resources, as operators announce them."""

from __future__ import annotations

import dataclasses
import datetime

from climate.domain.periods import Period


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MaintenanceDraft:
    """A maintenance that an operator announces.

    The resource is identified by its id, or by its type and name.

    :ivar id: of the maintenance; None for a generated one. Drafts with the same id are
        tries of one request
    :ivar reason: for people; owners of reservations read it
    """

    period: Period
    id: str | None = None
    resource_id: int | None = None
    resource_type: str = ''
    resource_name: str = ''
    reason: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MaintenanceChange:
    """New values for a maintenance; None keeps a value."""

    start: datetime.datetime | None = None
    end: datetime.datetime | None = None
    reason: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Maintenance:
    """A period in which a resource cannot be booked.

    :ivar user_id: the operator who announced it
    """

    id: str
    resource_id: int
    resource_type: str
    resource_name: str
    period: Period
    reason: str
    user_id: str
    created_at: datetime.datetime | None = None
