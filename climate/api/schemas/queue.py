# SPDX-License-Identifier: Apache-2.0

"""Query parameters of the queue of flexible leases."""

from __future__ import annotations

import uuid
from typing import Final

from climate import exceptions
from climate.api.http import queries
from climate.domain.queue import MOST_QUEUED
from climate.domain.queue import QueueQuery

PARAMETERS: Final = frozenset({'resource_type', 'lease_id', 'limit', 'marker'})


def read(parameters: queries.Parameters, project_id: str | None, max_limit: int) -> QueueQuery:
    """Return the query that parameters describe.

    :param project_id: whose leases the caller sees; None for those of all projects
    :raises climate.exceptions.InvalidInput: naming the parameter and why
    """
    marker, limit = queries.paging(parameters, min(max_limit, MOST_QUEUED))
    return QueueQuery(
        project_id=project_id,
        resource_type=queries.short(parameters, 'resource_type'),
        lease_id=_lease_id(queries.one(parameters, 'lease_id')),
        marker=marker,
        limit=limit,
    )


def _lease_id(value: str | None) -> str | None:
    try:
        return None if value is None else str(uuid.UUID(value))
    except ValueError:
        raise exceptions.MalformedParameter.of(
            'lease_id', 'the id of a lease is required'
        ) from None
