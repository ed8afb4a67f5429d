# SPDX-License-Identifier: Apache-2.0

"""Policy rules for the calendar."""

from __future__ import annotations

from climate.policies import base

SHOW = 'climate:calendar:show'

RULES = (
    base.documented(
        SHOW,
        base.PROJECT_READER_OR_ADMIN,
        'Show when resources are reserved, by pages, but not who reserved those of others.',
        'GET /v1/calendar',
    ),
)
