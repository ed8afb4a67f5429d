# SPDX-License-Identifier: Apache-2.0

"""Which resources of a timeline meet the conditions of a search, in memory.

A comparison takes some microseconds for all resources of a block. In the statement that checks
a few resources, each comparison is a subquery, so that one with a hundred of them takes longer
to write than to compare all resources here.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

from climate.allocation import requirements
from climate.allocation.blocks import Block
from climate.allocation.matches import Match
from climate.allocation.requirements import Requirement
from climate.allocation.steps import Bools
from climate.db.transactions.store import Transaction

MOST_IN_SQL: Final = 10
"""How many conditions of a requirement are checked in SQL at most."""


def is_long(requirement: Requirement) -> bool:
    """Whether a requirement has too many conditions for SQL."""
    return requirements.conditions(requirement) > MOST_IN_SQL


def hidden(tx: Transaction, match: Match) -> Collection[str]:
    """Return the names of the properties that requirements treat as missing."""
    if match.private or match.requirement is None:
        return ()
    return tx.properties.private_names(match.resource_type)


def rows(block: Block, match: Match, hidden: Collection[str]) -> Bools:
    """Whether each resource of a block matches."""
    columns, count = block.columns, len(block)
    found = np.ones(count, dtype=np.bool_)
    if match.requirement is not None:
        found &= columns.meet(match.requirement, hidden, count)
    for name in match.required_traits:
        found &= columns.have(name, count)
    for name in match.forbidden_traits:
        found &= ~columns.have(name, count)
    if match.names is not None:
        found &= np.isin(np.array(block.names, dtype=object), list(match.names))
    return found
