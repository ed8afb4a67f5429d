# SPDX-License-Identifier: Apache-2.0

"""Timelines give the answers of each allocation throughout long random histories.

Each engine takes about a minute. ``CLIMATE_TIMELINE_COMPARISONS`` asks for another number of
comparisons, each run with another history; 100,000 take about ten minutes on SQLite.
"""

from __future__ import annotations

import os
import random

from tests import services
from tests.functional.db import cases
from tests.functional.db import histories

_WANTED = os.environ.get('CLIMATE_TIMELINE_COMPARISONS')


@services.on_each_engine(cases.StoreCase)
class LongHistory(histories.HistoryCase):
    """The same history in every run, unless another number of comparisons is asked for."""

    comparisons = int(_WANTED or 8000)
    seed = random.randrange(1 << 30) if _WANTED else 11
