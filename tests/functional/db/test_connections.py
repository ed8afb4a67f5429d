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

"""How connections of the pool are set up."""

from __future__ import annotations

import sqlalchemy as sa

from tests import services
from tests.functional.db import cases


class _Compiles:
    """PostgreSQL compiles no plan of ours."""

    def test_jit_is_off(self) -> None:
        for _ in range(2):
            # The second time on the same connection, in another transaction.
            with self.store.reading() as tx:
                self.assertEqual('off', tx.session.scalar(sa.text('SHOW jit')))


class TestPsycopg(_Compiles, cases.StoreCase):
    """By the driver."""

    kind = services.POSTGRESQL


class TestPsycopg2(_Compiles, cases.StoreCase):
    """By the driver of before."""

    kind = services.PSYCOPG2
