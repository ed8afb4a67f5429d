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

"""Queries of the values of properties, with the number of resources that have each."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import sqlalchemy as sa

from climate.db import things
from climate.db.properties import Properties
from climate.db.properties import TRAIT
from climate.db.repository import Repository
from climate.db.tables import PROPERTIES
from climate.db.tables import RESOURCES
from climate.domain.choices import Choices
from climate.domain.choices import LONGEST_VALUE
from climate.domain.choices import MOST_PROPERTIES
from climate.domain.choices import MOST_TRAITS
from climate.domain.choices import MOST_VALUES
from climate.domain.choices import PropertyChoices
from climate.domain.choices import TraitChoice
from climate.domain.natural_order import sort_key


class PropertyCounts(Repository):
    """What resources of a type have, as far as a project can see them."""

    def choices(self, resource_type: str, project_id: str | None, *, private: bool) -> Choices:
        """Return the properties and traits of the resources of a type.

        :param project_id: leaves out things of other projects; None includes them
        :param private: whether with private properties
        """
        hidden = Properties(self._session, self._now).private_names(resource_type)
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

    def names(self, resource_type: str, *, private: bool) -> list[str]:
        """Return the names of the properties that resources of a type have, in order."""
        query = (
            sa.select(PROPERTIES.c.name)
            .join(RESOURCES, RESOURCES.c.id == PROPERTIES.c.resource_id)
            .where(*_of(resource_type, None), PROPERTIES.c.kind != TRAIT)
            .distinct()
            .order_by(PROPERTIES.c.name)
        )
        hidden = Properties(self._session, self._now).private_names(resource_type)
        return [name for name in self._session.scalars(query) if private or name not in hidden]

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
        found: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        if not names:
            return found
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
                found[name].append((value, number))
        for each in found.values():
            each.sort(key=lambda one: (sort_key(one[0]), one[0]))
        return found

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
    return (
        RESOURCES.c.resource_type == resource_type,
        RESOURCES.c.deleted == 0,
        things.visible(project_id),
    )
