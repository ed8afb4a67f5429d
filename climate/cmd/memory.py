# SPDX-License-Identifier: Apache-2.0

"""The garbage collector and the threads of a process that serves requests or does batches."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator
from typing import Final

# Python's default is 700.
_OBJECTS: Final = 50_000
# In seconds; Python's default is 0.005.
_SWITCH_INTERVAL: Final = 0.001


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Collect garbage once afterwards: while modules load, most of what is created stays.

    The collector would examine it several times, which takes an eighth of the processor time,
    and once more in :func:`tune`.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # All is of the youngest generation.
        gc.collect(0)
        gc.freeze()
        if enabled:
            gc.enable()


def tune() -> None:
    """Collect garbage less often; call this when the process is complete.

    A list of leases or a batch creates thousands of objects, and all are freed without the
    collector. By default it runs several times for each, and now and then examines all
    objects of the process, most of which live as long as the process does.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS)


def switch_sooner() -> None:
    """Switch threads sooner than Python does by default.

    A thread that has the answer of the database waits until another one that computes is
    made to pause. By default, that takes as long as a few statements.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL)
