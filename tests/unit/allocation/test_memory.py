# SPDX-License-Identifier: Apache-2.0

"""What is freed is kept for the next arrays."""

from __future__ import annotations

import platform
import sys
import unittest

from tests import base
from tests import commands

# Many small arrays at once, again and again; prints how many pages the system provided.
SCRIPT = """
import resource
import numpy as np
from climate.allocation import memory
memory.keep_freed()
def work():
    arrays = [np.ones(12_000) for _ in range(30)]
work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@unittest.skipUnless(platform.libc_ver()[0] == 'glibc', 'another C library')
class KeepFreedTest(base.TestCase):
    def test_memory_is_not_asked_for_again(self) -> None:
        found = commands.captured([sys.executable, '-c', SCRIPT], check=True)
        # Without it, the system provides more than 10,000.
        self.assertLess(int(found.stdout), 1000)
