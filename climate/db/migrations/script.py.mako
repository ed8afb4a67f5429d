# SPDX-License-Identifier: Apache-2.0

"""${message}

Revision: ${up_revision}, after ${down_revision | comma,n}
"""

from __future__ import annotations

from alembic import op
import sqlalchemy as sa
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    """Upgrade the tables."""
    ${upgrades if upgrades else "pass"}
