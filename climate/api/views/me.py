# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The caller as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from oslo_context import context as oslo_context

from climate.api import dates
from climate.api.routing import Scope
from climate.domain import periods

# Key of the WSGI environment in which keystonemiddleware leaves the data of the token.
_TOKEN = 'keystone.token_info'  # noqa: S105  the name of a key


def caller(
    scope: Scope,
    context: oslo_context.RequestContext,
    environ: Mapping[str, Any],
    may: Mapping[str, bool],
) -> dict[str, Any]:
    """Return the caller.

    :param may: whether each rule allows the caller to act in the project of the token
    """
    token = (environ.get(_TOKEN) or {}).get('token', {})
    expires = token.get('expires_at')
    found = periods.instant(expires, scope.now, zoned=True) if expires else None
    return {
        'user_id': context.user_id,
        'user_name': context.user_name or context.user_id,
        'project_id': context.project_id,
        'project_name': context.project_name or context.project_id,
        'roles': sorted(scope.caller.roles),
        'admin': scope.caller.all_projects,
        'token_expires_at': dates.write(found, scope.version),
        'may': dict(may),
        'server_time': int(scope.now.timestamp()),
    }
