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

"""What every table's file begins with."""

from __future__ import annotations

import datetime

from sqlalchemy import orm


class Repository:
    """Statements on one table, inside one transaction.

    :param session: the transaction's session
    :param now: what is written as created_at and updated_at (aware UTC)
    """

    def __init__(self, session: orm.Session, now: datetime.datetime) -> None:
        self._session = session
        self._now = now
