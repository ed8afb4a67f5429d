# SPDX-License-Identifier: Apache-2.0

"""The secret parts of a draft, the same for every resource type.

A stored request may have a ``draft``, from which the lease creates an object at
its start. The secret keys of a draft are never shown, are encrypted in the
database if the operator configures keys, and are deleted when the lease ends.
A resource type that stores secrets keeps them under these keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

DRAFT: Final = 'draft'
SEALED: Final = 'sealed'
"""Key of the ciphertext that replaces the secrets."""

_NOTHING: Mapping[str, Any] = {
    'user_data': '',
    'template': '',
    'environment': '',
    'parameters': {},
    'files': {},
}


def secrets(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the secrets of a request that need to be hidden, by key."""
    draft = request.get(DRAFT) or {}
    return {key: value for key, value in draft.items() if key in _NOTHING and value}


def hidden(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request without its secrets, in clear or encrypted."""
    draft = request.get(DRAFT)
    if not draft:
        return dict(request)
    clear = {key: _NOTHING.get(key, value) for key, value in draft.items() if key != SEALED}
    return {**request, DRAFT: clear}


def restored(request: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request with the secrets of *other*, in clear or encrypted."""
    draft, had = request.get(DRAFT), other.get(DRAFT) or {}
    if not draft:
        return dict(request)
    kept = {key: value for key, value in had.items() if key in _NOTHING or key == SEALED}
    return {**request, DRAFT: {**draft, **kept}}
