# SPDX-License-Identifier: Apache-2.0

"""What one request may cost, and what is left of it.

A request gets one :class:`RequestBudget`, with the caller, and every search that it needs spends of
it: also those for alternatives after a refusal, and each choice that is repeated because
another request was faster.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable
from collections.abc import Iterator
from typing import Final


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class BudgetLimits:
    """What one request may cost at most.

    :ivar processor_seconds: of processor time, in its thread
    :ivar transaction_seconds: of time in transactions, in which the database works as well
    :ivar conditions: how many comparisons and traits all of its requirements may have
    """

    processor_seconds: float = math.inf
    transaction_seconds: float = math.inf
    conditions: int | None = None


def _never() -> float:
    return 0.0


class RequestBudget:
    """What is left for one request; for the thread that serves it.

    :ivar limits: what it may cost
    :param processor: returns the processor time of the thread, in seconds
    :param ticks: returns the elapsed time, in seconds
    :param refusal: the error of a request that has spent its budget
    """

    def __init__(
        self,
        limits: BudgetLimits,
        processor: Callable[[], float] = _never,
        ticks: Callable[[], float] = _never,
        refusal: Callable[[], Exception] = RuntimeError,
    ) -> None:
        self.limits = limits
        self._processor = processor
        self._ticks = ticks
        self._refusal = refusal
        self._processor_end = processor() + limits.processor_seconds
        self._transactions_left = limits.transaction_seconds
        self._transaction_end = math.inf

    @property
    def left(self) -> float:
        """The seconds that are left, of that which ends first; not negative."""
        waits = min(self._transaction_end - self._ticks(), self._transactions_left)
        return max(min(self._processor_end - self._processor(), waits), 0.0)

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def check(self) -> None:
        """Refuse the request if nothing is left; before each step that costs something.

        :raises climate.exceptions.RequirementsTooSlow: if nothing is left
        """
        if self.spent:
            raise self._refusal()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Count the time that a transaction takes."""
        if self._transaction_end < math.inf or self._transactions_left == math.inf:
            yield
            return
        self._transaction_end = self._ticks() + self._transactions_left
        try:
            yield
        finally:
            self._transactions_left = max(self._transaction_end - self._ticks(), 0.0)
            self._transaction_end = math.inf

    @contextlib.contextmanager
    def for_all(self) -> Iterator[None]:
        """Do not count what serves all requests, and happens to be the turn of this one."""
        processor, ticks = self._processor(), self._ticks()
        try:
            yield
        finally:
            self._processor_end += self._processor() - processor
            self._transaction_end += self._ticks() - ticks


UNLIMITED: Final = RequestBudget(BudgetLimits())
"""For what no user requests: it is never spent."""
