# SPDX-License-Identifier: Apache-2.0

"""Translates requirements to SQL that agrees with ``allocation.requirements``."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from climate.allocation import requirements
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import PROPERTY_KEYS
from climate.db.schema.tables import RESOURCES

_OPERATORS = {
    requirements.Operator.EQ: lambda column, value: column == value,
    requirements.Operator.NE: lambda column, value: column != value,
    requirements.Operator.GE: lambda column, value: column >= value,
    requirements.Operator.LE: lambda column, value: column <= value,
    requirements.Operator.GT: lambda column, value: column > value,
    requirements.Operator.LT: lambda column, value: column < value,
}


def condition(requirement: requirements.Requirement, *, private: bool) -> sa.ColumnElement[bool]:
    """Return the condition on a row of ``resources``.

    :param private: whether private properties may be compared; otherwise they are
        treated as missing
    """
    match requirement:
        case requirements.All(parts=parts):
            return sa.and_(*(condition(part, private=private) for part in parts))
        case requirements.AnyOf(parts=parts):
            return sa.or_(*(condition(part, private=private) for part in parts))
        case requirements.Not(part=part):
            return sa.not_(condition(part, private=private))
        case requirements.Trait(name=name):
            return has_trait(name)
        case requirements.Comparison():
            return _comparison(requirement, private=private)


def has_trait(name: str) -> sa.ColumnElement[bool]:
    """Return the condition that a resource has a trait.

    ::

        EXISTS (SELECT 1 FROM properties p
                WHERE p.resource_id = resources.id AND p.name = :name AND p.kind = 'trait')
    """
    return sa.exists().where(
        PROPERTIES.c.resource_id == RESOURCES.c.id,
        PROPERTIES.c.name == name,
        PROPERTIES.c.kind == 'trait',
    )


def _comparison(wanted: requirements.Comparison, *, private: bool) -> sa.ColumnElement[bool]:
    """Return the condition for one comparison.

    ::

        EXISTS (SELECT 1 FROM properties p
                WHERE p.resource_id = resources.id AND p.name = :key AND p.kind != 'trait'
                  AND (p.number IS NOT NULL AND p.number >= :number
                       OR p.number IS NULL AND p.value >= :value))
    """
    holds = _OPERATORS[wanted.op]
    as_text = holds(PROPERTIES.c.value, wanted.value)
    fulfilled: Any = as_text
    if wanted.number is not None:
        number = PROPERTIES.c.number
        fulfilled = sa.or_(
            sa.and_(number.is_not(None), holds(number, wanted.number)),
            sa.and_(number.is_(None), as_text),
        )
    found: sa.ColumnElement[bool] = sa.exists().where(
        PROPERTIES.c.resource_id == RESOURCES.c.id,
        PROPERTIES.c.name == wanted.key,
        PROPERTIES.c.kind != 'trait',
        fulfilled,
    )
    if not private:
        hidden = sa.exists().where(
            PROPERTY_KEYS.c.resource_type == RESOURCES.c.resource_type,
            PROPERTY_KEYS.c.name == wanted.key,
            PROPERTY_KEYS.c.private.is_(True),
        )
        found = sa.and_(found, sa.not_(hidden))
    return found
