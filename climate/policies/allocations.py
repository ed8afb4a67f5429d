# SPDX-License-Identifier: Apache-2.0

"""Policy rules for allocations."""

from __future__ import annotations

from climate.policies import base

LIST = 'climate:allocations:list'
SHOW = 'climate:allocations:show'

RULES = (
    base.documented(
        LIST,
        base.PROJECT_READER_OR_ADMIN,
        'List when resources are reserved. Reservations of other projects appear under an '
        'opaque id.',
        'GET /v1/os-hosts/allocations',
        'GET /v1/resources/allocations',
    ),
    base.documented(
        SHOW,
        base.PROJECT_READER_OR_ADMIN,
        'Show when one resource is reserved. Reservations of other projects appear under an '
        'opaque id.',
        'GET /v1/os-hosts/{host_id}/allocation',
        'GET /v1/resources/{resource_id}/allocations',
    ),
)
