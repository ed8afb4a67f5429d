# SPDX-License-Identifier: Apache-2.0

"""What statements on ``resources`` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.db.schema.tables import RESOURCES

RAISED: Final[Mapping[str, Any]] = {'generation': RESOURCES.c.generation + 1}
"""The column by which others notice that a resource has changed, as arguments of an update."""


def of_type(resource_type: str) -> tuple[Any, Any]:
    """Return the conditions that a resource has a type, and is not deleted."""
    return RESOURCES.c.resource_type == resource_type, RESOURCES.c.deleted == 0
