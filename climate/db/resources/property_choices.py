# SPDX-License-Identifier: Apache-2.0

"""Queries of the values of properties, with the number of resources that have each."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Hashable
from typing import Any
from typing import Final

import sqlalchemy as sa

from climate.db.resources import conditions
from climate.db.resources import things
from climate.db.resources.properties import Properties
from climate.db.resources.properties import TRAIT
from climate.db.schema.tables import PROPERTIES
from climate.db.schema.tables import PROPERTY_KEYS
from climate.db.schema.tables import RESOURCES
from climate.db.statements.repository import Repository
from climate.domain.choices import Choices
from climate.domain.choices import LONGEST_VALUE
from climate.domain.choices import MOST_PROPERTIES
from climate.domain.choices import MOST_TRAITS
from climate.domain.choices import MOST_VALUES
from climate.domain.choices import PropertyChoices
from climate.domain.choices import TraitChoice
from climate.domain.natural_order import sort_key

_SAMPLE: Final = 100
"""Resources whose properties are read, where those of all would take too long."""


class PropertyCounts(Repository):
    """What resources of a type have, as far as a project can see them."""

    def choices(self, resource_type: str, project_id: str | None, *, private: bool) -> Choices:
        """Return the properties and traits of the resources of a type.

        :param project_id: leaves out things of other projects; None includes them
        :param private: whether with private properties
        """
        hidden = self._hidden(resource_type)
        numbers = self._numbers(resource_type, project_id, () if private else hidden)
        few = [name for name, number in numbers.items() if number <= MOST_VALUES]
        values = self._values(resource_type, project_id, few)
        return Choices(
            tuple(
                PropertyChoices(name, name in hidden, tuple(values.get(name, ())), number)
                for name, number in numbers.items()
            ),
            self._traits(resource_type, project_id),
        )

    def state(self, resource_type: str, project_id: str | None) -> tuple[Hashable, ...]:
        """Return what differs if the choices of a type may do, for two projects or two times.

        It is read from the resources, since all their properties take seconds to read. If two
        transactions change resources at the same time, it may miss the one that ends later.
        """
        query = sa.select(
            sa.func.count(),
            sa.func.count(RESOURCES.c.project_id).label('things'),
            sa.func.max(RESOURCES.c.id),
            sa.func.max(RESOURCES.c.updated_at),
            sa.select(sa.func.max(PROPERTIES.c.id)).scalar_subquery(),
        ).where(*_of(resource_type, None))
        counted = self._session.execute(query).one()
        hidden = self._hidden(resource_type)
        # Most types have no things of projects, and all projects see the same.
        return (*counted, frozenset(hidden), project_id if counted.things else None)

    def unknown(self, resource_type: str, names: Collection[str], *, private: bool) -> list[str]:
        """Return those names of properties that no resource of a type has, in order.

        :param private: whether private properties count
        """
        hidden = set() if private else self._hidden(resource_type)
        return [one for one in sorted(names) if one in hidden or not self._has(resource_type, one)]

    def names(self, resource_type: str, most: int, *, private: bool) -> list[str]:
        """Return the first names of the properties that resources of a type have, in order.

        These are names that operators have set, and those of some resources: a statement for
        all would read the properties of all.

        :param private: whether with private properties
        """
        some = (
            sa.select(RESOURCES.c.id)
            .where(*_of(resource_type, None))
            .order_by(RESOURCES.c.sort_name, RESOURCES.c.id)
            .limit(_SAMPLE)
        )
        ids = list(self._session.scalars(some))
        theirs = sa.select(PROPERTIES.c.name).where(
            PROPERTIES.c.resource_id.in_(ids), PROPERTIES.c.kind != TRAIT
        )
        sampled = set(self._session.scalars(theirs.distinct()))
        registered = sa.select(PROPERTY_KEYS.c.name).where(
            PROPERTY_KEYS.c.resource_type == resource_type
        )
        known = sampled.union(self._session.scalars(registered))
        if not private:
            known -= self._hidden(resource_type)
        # What is registered may be on no resource any more.
        there = (one for one in sorted(known) if one in sampled or self._has(resource_type, one))
        return list(itertools.islice(there, most))

    def _hidden(self, resource_type: str) -> set[str]:
        return Properties(self._session, self._now).private_names(resource_type)

    def _has(self, resource_type: str, name: str) -> bool:
        """Whether a resource has a property; reads until it finds one."""
        query = (
            sa.select(PROPERTIES.c.id)
            .join(RESOURCES, RESOURCES.c.id == PROPERTIES.c.resource_id)
            .where(PROPERTIES.c.name == name, PROPERTIES.c.kind != TRAIT, *_of(resource_type, None))
            .limit(1)
        )
        return self._session.scalar(query) is not None

    def _numbers(self, resource_type: str, project_id: str | None, hidden: Any) -> dict[str, int]:
        """Return how many values each property has, by name."""
        query = (
            sa.select(PROPERTIES.c.name, sa.func.count(PROPERTIES.c.value.distinct()))
            .join(RESOURCES, RESOURCES.c.id == PROPERTIES.c.resource_id)
            .where(*_of(resource_type, project_id), PROPERTIES.c.kind != TRAIT)
            .group_by(PROPERTIES.c.name)
            .order_by(PROPERTIES.c.name)
            .limit(MOST_PROPERTIES)
        )
        if hidden:
            query = query.where(PROPERTIES.c.name.not_in(sorted(hidden)))
        return {row[0]: row[1] for row in self._session.execute(query)}

    def _values(
        self, resource_type: str, project_id: str | None, names: list[str]
    ) -> dict[str, list[tuple[str, int]]]:
        """Return the values of properties, each with the number of resources that have it."""
        values: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        if not names:
            return values
        query = (
            sa.select(
                PROPERTIES.c.name,
                PROPERTIES.c.value,
                sa.func.count(PROPERTIES.c.resource_id.distinct()),
            )
            .join(RESOURCES, RESOURCES.c.id == PROPERTIES.c.resource_id)
            .where(
                *_of(resource_type, project_id),
                PROPERTIES.c.kind != TRAIT,
                PROPERTIES.c.name.in_(names),
            )
            .group_by(PROPERTIES.c.name, PROPERTIES.c.value)
        )
        for name, value, number in self._session.execute(query):
            if len(value) <= LONGEST_VALUE:
                values[name].append((value, number))
        for each in values.values():
            each.sort(key=lambda one: (sort_key(one[0]), one[0]))
        return values

    def _traits(self, resource_type: str, project_id: str | None) -> tuple[TraitChoice, ...]:
        query = (
            sa.select(PROPERTIES.c.name, sa.func.count())
            .join(RESOURCES, RESOURCES.c.id == PROPERTIES.c.resource_id)
            .where(*_of(resource_type, project_id), PROPERTIES.c.kind == TRAIT)
            .group_by(PROPERTIES.c.name)
            .order_by(PROPERTIES.c.name)
            .limit(MOST_TRAITS)
        )
        return tuple(TraitChoice(*row) for row in self._session.execute(query))


def _of(resource_type: str, project_id: str | None) -> tuple[Any, ...]:
    return (*conditions.of_type(resource_type), things.visible(project_id))
