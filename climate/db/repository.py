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

"""The base class of all repositories."""

from __future__ import annotations

import dataclasses
import datetime

import sqlalchemy as sa


@dataclasses.dataclass(eq=False)
class Repository:
    """Statements on one table, inside one transaction.

    :ivar _session: the connection in the transaction
    :ivar _now: the value of ``created_at`` and ``updated_at`` (aware UTC)
    """

    _session: sa.Connection
    _now: datetime.datetime
