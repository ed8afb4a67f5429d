# SPDX-License-Identifier: Apache-2.0

"""Items of lists."""

from __future__ import annotations

from typing import Protocol


class ListedItem(Protocol):
    """An item of a list of a service."""

    @property
    def id(self) -> str:
        """The id, which the service takes as a marker."""
