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

"""PostgreSQL goes away from a service that uses the driver of before."""

from __future__ import annotations

from tests import services
from tests.functional import test_outages


class TestPsycopg2Gone(test_outages.DatabaseGone, test_outages.OutageCase):
    """PostgreSQL, by the driver of before."""

    database = services.PSYCOPG2
