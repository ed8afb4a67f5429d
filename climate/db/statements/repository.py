# SPDX-License-Identifier: Apache-2.0

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
