# SPDX-License-Identifier: Apache-2.0

"""Policy rules for usage reports."""

from __future__ import annotations

from climate.policies import base

SHOW = 'climate:usage:show'

RULES = (
    base.documented(
        SHOW,
        base.ADMIN,
        'Show how much the leases of all projects booked and used.',
        'GET /v1/usage',
    ),
)
