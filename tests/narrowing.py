# SPDX-License-Identifier: Apache-2.0

"""Values that tests need, and that may be missing as far as types say."""

from __future__ import annotations

from typing import TypeVar

Found = TypeVar('Found')


def present(found: Found | None) -> Found:
    """Return what has to be there."""
    assert found is not None
    return found
