# SPDX-License-Identifier: Apache-2.0

"""Choices that one request has read, for the others.

Any user can ask for them, and reading all properties of ten thousand resources takes seconds.
"""

from __future__ import annotations

import dataclasses
import datetime
import threading
from collections import OrderedDict
from collections.abc import Callable
from collections.abc import Hashable
from typing import Final

from climate.domain.choices import Choices

MOST: Final = 16
AGE: Final = datetime.timedelta(minutes=1)


@dataclasses.dataclass(eq=False, slots=True)
class _Kept:
    """Choices, and the lock for reading them.

    :ivar read_at: aware UTC; None if they are not read yet
    """

    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)
    choices: Choices | None = None
    read_at: datetime.datetime | None = None

    def is_new(self, now: datetime.datetime) -> bool:
        return self.read_at is not None and abs(now - self.read_at) < AGE


class KeptChoices:
    """The choices of the last :data:`MOST` kinds of requests, each for a minute."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()

    def get(self, key: Hashable, now: datetime.datetime, read: Callable[[], Choices]) -> Choices:
        """Return choices; requests for the same ones wait for the first of them.

        :param key: all that they depend on
        :param read: called if they are not known, or too old
        """
        with self._lock:
            kept = self._kept.setdefault(key, _Kept())
            self._kept.move_to_end(key)
            if len(self._kept) > MOST:
                self._kept.popitem(last=False)
        with kept.lock:
            if kept.choices is None or not kept.is_new(now):
                kept.choices, kept.read_at = read(), now
            return kept.choices
