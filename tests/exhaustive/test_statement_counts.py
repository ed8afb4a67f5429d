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
