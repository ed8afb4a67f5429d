# SPDX-License-Identifier: Apache-2.0

"""Policy rules for availability."""

from __future__ import annotations

from climate.policies import base

SHOW = 'climate:availability:show'

RULES = (
    base.documented(
        SHOW,
        base.PROJECT_READER_OR_ADMIN,
        'Show how much of a resource type is free over time, but not who reserved the others.',
        'GET /v1/availability',
    ),
)
