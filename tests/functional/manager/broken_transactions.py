# SPDX-License-Identifier: Apache-2.0

"""Transactions that fail, or whose process dies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

from climate.db.transactions.store import Store


class Killed(BaseException):
    """The process is gone."""


def transaction_fails(nth: int, error: BaseException, *, after: bool) -> mock._patch[Any]:
    """Have one of the transactions that write fail, before it or after its commit."""
    count = 0
    run = Store.run

    def failing(store: Store, work: Callable[[Any], Any], **named: Any) -> Any:
        nonlocal count
        count += 1
        if count == nth and not after:
            raise error
        result = run(store, work, **named)
        if count == nth:
            raise error
        return result

    return mock.patch.object(Store, 'run', failing)
