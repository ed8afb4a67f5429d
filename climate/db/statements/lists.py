# SPDX-License-Identifier: Apache-2.0

"""Conditions that a column has one of a list of values.

A statement with ``IN (:id_1, :id_2, …)`` has another text for each length of its list:
SQLAlchemy renders it and drivers parse it again. With an array there is
one text for all lengths.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.visitors import InternalTraversal


class _Array(sa.TypeDecorator[Any]):
    """The type of an array, which a parameter may give as any collection."""

    impl = sa.ARRAY
    cache_ok = True

    def process_bind_param(self, value: Iterable[Any] | None, dialect: sa.Dialect) -> Any:
        """Return a list, because drivers take a tuple for a row."""
        return None if value is None else list(value)


class Among(sa.ColumnElement[bool]):
    """Whether *column* has one of the values of a parameter.

    ::

        column = ANY(:name)     -- PostgreSQL
        column IN (:name)       -- other engines, with a parameter for each value

    :param name: the name of the parameter, whose value is a collection
    """

    inherit_cache = True
    _traverse_internals = [
        ('listed', InternalTraversal.dp_clauseelement),
        ('compared', InternalTraversal.dp_clauseelement),
    ]

    def __init__(self, column: sa.ColumnElement[Any], name: str) -> None:
        super().__init__()
        self.type = sa.Boolean()
        self.listed = column.in_(sa.bindparam(name, expanding=True))
        text = isinstance(column.type, sa.String)
        array = sa.bindparam(name, type_=_Array(sa.String() if text else column.type))
        self.compared = column == sa.func.any(array)

    def self_group(self, against: Any = None) -> Among:
        """Return the condition as it is: AND and OR need no brackets around it."""
        return self


@compiles(Among)
def _list(element: Among, compiler: Any, **facts: Any) -> str:
    text: str = compiler.process(element.listed, **facts)
    return text


@compiles(Among, 'postgresql')
def _compare(element: Among, compiler: Any, **facts: Any) -> str:
    text: str = compiler.process(element.compared, **facts)
    return text
