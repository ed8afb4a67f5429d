# SPDX-License-Identifier: Apache-2.0

"""Policy rules for what callers learn about themselves."""

from __future__ import annotations

from climate.policies import base

SHOW = 'climate:me:show'

RULES = (
    base.documented(
        SHOW,
        '@',
        'Show the user, project and roles of the token, and which rules allow the caller to '
        'act in that project.',
        'GET /v1/me',
    ),
)
