# SPDX-License-Identifier: Apache-2.0

"""How much memory arrays take, and what makes it available faster."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

import numpy as np

# In bytes: arrays of this size and smaller no longer make a difference.
_LARGE: Final = 1 << 22
# In bytes, of the memory that all threads share; see keep_freed().
_KEPT: Final = 1 << 23


def keep_freed() -> None:
    """Let this process keep a few megabytes of freed memory for its next arrays.

    The GNU C library returns freed memory to the system, beyond twice the size of the largest
    array that was freed before. A search frees many small arrays at once, and to get their
    memory back from the system takes about as long as the search.
    """
    # Allocated, but not filled: it takes no memory.
    np.empty(_LARGE, dtype=np.int8)


def give_back() -> None:
    """Return freed memory to the system, of all threads.

    The GNU C library keeps what a thread has freed for that thread, below anything that is
    still in use: what one search took for a moment would be taken for good, by each thread.
    """
    trim = _trim()
    if trim is not None:
        trim(_KEPT)


@functools.cache
def _trim() -> Callable[[int], int] | None:
    """Return ``malloc_trim``; None in other C libraries."""
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):
        return None
    return found


def size(item: Any) -> int:
    """Return the bytes of all arrays in a structure of dataclasses and mappings."""
    # Some are part of several objects.
    return sum({id(array): array.nbytes for array in _arrays(item)}.values())


def _arrays(item: Any) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(item, np.ndarray):
        yield item
    elif isinstance(item, Mapping):
        for each in item.values():
            yield from _arrays(each)
    elif dataclasses.is_dataclass(item):
        for field in dataclasses.fields(item):
            yield from _arrays(getattr(item, field.name))
