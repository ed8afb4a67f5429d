# SPDX-License-Identifier: Apache-2.0

"""Remembers which requests found nothing that could give way to them.

Such a search takes up to two seconds. A client that repeats a refused request would have it done
each time, although the answer is the same until something changes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any
from typing import Final

MOST_PROJECTS: Final = 1_000
MOST_REQUESTS: Final = 20
"""How many requests of a project are remembered."""
LONGEST: Final = 60.0
"""For how many seconds: what is not seen to have changed may have."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Futile:
    """A search that found nothing.

    :ivar state: digest of what differs after any change
    :ivar until: until when it counts, in ticks of the clock
    """

    state: bytes
    until: float


class FutileSearches:
    """The last futile searches of each project, of one process.

    It keeps digests: requests and states may be large.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, OrderedDict[bytes, _Futile]] = OrderedDict()

    def knows(self, project_id: str, request: Hashable, state: Any, ticks: float) -> bool:
        """Whether a request found nothing in a state.

        :param ticks: of the clock, in seconds
        """
        with self._lock:
            mine = self._found.get(project_id)
            known = None if mine is None else mine.get(_digest(request))
            return known is not None and known.state == _digest(state) and ticks < known.until

    def add(self, project_id: str, request: Hashable, state: Any, ticks: float) -> None:
        """Remember that a request found nothing in a state; forget the oldest ones."""
        with self._lock:
            mine = self._found.setdefault(project_id, OrderedDict())
            self._found.move_to_end(project_id)
            key = _digest(request)
            mine[key] = _Futile(state=_digest(state), until=ticks + LONGEST)
            mine.move_to_end(key)
            if len(mine) > MOST_REQUESTS:
                mine.popitem(last=False)
            if len(self._found) > MOST_PROJECTS:
                self._found.popitem(last=False)


def _digest(what: Any) -> bytes:
    return hashlib.sha256(repr(what).encode()).digest()
