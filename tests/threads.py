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


def together(call: Callable[[Any], T], arguments: Iterable[Any]) -> list[T]:
    """Call a function with each argument, in threads that begin together.

    :returns: the results, in the order of the arguments
    :raises Exception: what the first of the calls raised that failed
    """
    given = list(arguments)
    ready = threading.Barrier(len(given))

    def one(argument: Any) -> T:
        ready.wait(60)
        return call(argument)

    with futures.ThreadPoolExecutor(len(given)) as pool:
        return list(pool.map(one, given))
