# SPDX-License-Identifier: Apache-2.0

"""Several calls at once, each in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from collections.abc import Iterable
from concurrent import futures
from typing import Any
from typing import TypeVar

T = TypeVar('T')

PATIENCE = 300.0


def together(
    call: Callable[[Any], T], arguments: Iterable[Any], seconds: float = PATIENCE
) -> list[T]:
    """Call a function with each argument, in threads that begin together.

    :param seconds: how long all of them may take
    :returns: the results, in the order of the arguments
    :raises AssertionError: if a call has not ended by then; its thread is left behind
    :raises Exception: what the first of the calls raised that failed
    """
    calls = {futures.Future[T](): argument for argument in arguments}
    ready = threading.Barrier(len(calls))

    def run(outcome: futures.Future[T], argument: Any) -> None:
        try:
            ready.wait(60)
            outcome.set_result(call(argument))
        except BaseException as error:
            outcome.set_exception(error)

    for one in calls.items():
        threading.Thread(target=run, args=one, daemon=True).start()
    hanging = futures.wait(calls, seconds).not_done
    if hanging:
        named = [argument for outcome, argument in calls.items() if outcome in hanging]
        raise AssertionError(
            f'{len(hanging)} of {len(calls)} calls have not ended after {seconds:g} s: {named}'
        )
    return [outcome.result() for outcome in calls]
