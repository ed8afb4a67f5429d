# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Timelines and SQL give the same answers throughout long random histories.

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


class LongHistory(histories.HistoryCase):
    """The same history in every run, unless another number of comparisons is asked for."""

    comparisons = int(_WANTED or 8000)
    seed = random.randrange(1 << 30) if _WANTED else 11


class TestSqlite(LongHistory, cases.StoreCase):
    """On SQLite."""


class TestMariadb(LongHistory, cases.StoreCase):
    """On MariaDB."""

    kind = services.MARIADB


class TestPostgresql(LongHistory, cases.StoreCase):
    """On PostgreSQL."""

    kind = services.POSTGRESQL
