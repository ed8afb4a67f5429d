# SPDX-License-Identifier: Apache-2.0

"""How many SQL statements a request takes in a cloud of the full size."""

from __future__ import annotations

from tests import base
from tests import services
from tests.functional import test_statement_counts


class TestFullSize(test_statement_counts.Counts, base.TestCase):
    """On SQLite, with 10,000 hosts, and with 100,000 allocations."""

    kind = services.SQLITE
    sizes = ((10, 0), (1000, 0), (10_000, 0), (1000, 100_000))
    part_sizes = ((60, 0), (1000, 4000), (1000, 100_000))
