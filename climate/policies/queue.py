# SPDX-License-Identifier: Apache-2.0

"""Policy rules for the queue of flexible leases."""

from __future__ import annotations

from climate.policies import base

SHOW = 'climate:queue:show'

RULES = (
    base.documented(
        SHOW,
        base.PROJECT_READER_OR_ADMIN,
        'Show which flexible leases may still move or wait, and when they may begin.',
        'GET /v1/queue',
    ),
)
