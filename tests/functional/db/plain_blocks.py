# SPDX-License-Identifier: Apache-2.0

"""Blocks of a timeline as plain values, to be compared."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from climate.allocation.blocks import Block


def plain(block: Block, since: int) -> dict[str, Any]:
    """Return a block as lists, without releases before *since*, which no longer matter."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(block):
        value = getattr(block, field.name)
        if field.name == 'periods':
            # In no particular order.
            value = {
                name: sorted(zip(uses.rows, uses.starts, uses.ends, uses.amounts, strict=True))
                for name, uses in value.items()
            }
        elif field.name == 'columns':
            value = {
                str(key): [
                    column.values[code] if code >= 0 else None for code in column.codes.tolist()
                ]
                for key, column in value.found.items()
                if (column.codes >= 0).any()
            }
        elif field.name in ('supplies', 'used'):
            value = {
                name: [getattr(item, each.name) for each in dataclasses.fields(item)]
                for name, item in value.items()
            }
        elif dataclasses.is_dataclass(value):
            value = [getattr(value, each.name) for each in dataclasses.fields(value)]
        elif field.name in ('returned', 'returned_whole'):
            value = np.where(value > since, value, 0)
        found[field.name] = _listed(value)
    return found


def _listed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {name: _listed(each) for name, each in value.items()}
    return [_listed(each) for each in value] if isinstance(value, list) else value
