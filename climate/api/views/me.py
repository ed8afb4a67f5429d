# SPDX-License-Identifier: Apache-2.0

"""The caller as JSON."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from oslo_context import context as oslo_context

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.domain import periods
from climate.domain.requests import Caller

# Key of the WSGI environment in which keystonemiddleware leaves the data of the token.
_TOKEN = 'keystone.token_info'  # noqa: S105  the name of a key


def caller(
    who: Caller,
    context: oslo_context.RequestContext,
    environ: Mapping[str, Any],
    may: Mapping[str, bool],
    now: datetime.datetime,
    version: Microversion,
) -> dict[str, Any]:
    """Return the caller.

    :param may: whether each rule allows the caller to act in the project of the token
    :param now: aware UTC
    """
    token = (environ.get(_TOKEN) or {}).get('token', {})
    expires = token.get('expires_at')
    expiry = periods.instant(expires, now, zoned=True) if expires else None
    return {
        'user_id': context.user_id,
        'user_name': context.user_name or context.user_id,
        'project_id': context.project_id,
        'project_name': context.project_name or context.project_id,
        'roles': sorted(who.roles),
        'admin': who.all_projects,
        'token_expires_at': dates.write(expiry, version),
        'may': dict(may),
        'server_time': int(now.timestamp()),
    }
