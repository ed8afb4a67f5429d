# SPDX-License-Identifier: Apache-2.0

"""Properties of a few hundred resources, a column for each name; requirements over them.

Few resources differ in a property, so each different value is kept, and compared, once.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

import numpy as np

from climate.allocation import requirements
from climate.allocation.requirements import Comparison
from climate.allocation.requirements import Requirement
from climate.allocation.requirements import Trait
from climate.allocation.steps import Bools
from climate.allocation.steps import Ints

TRAIT: Final = 'trait'
"""The kind of properties that have no value."""

_MISSING: Final = -1


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Property:
    """A property that some resources have with the same value.

    :ivar kind: a resource can have properties of one name, but of different kinds
    :ivar number: the value as a number; None if it is compared as text only
    """

    resource_ids: Sequence[int]
    kind: str
    name: str
    value: str
    number: float | None


_Value = tuple[str, float | None]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Column:
    """The values of one property.

    :ivar values: the different ones
    :ivar codes: the place of the value of each row; -1 for a row without one
    """

    values: tuple[_Value, ...]
    codes: Ints

    @classmethod
    def of(cls, found: Mapping[int, _Value], count: int) -> Column:
        """Return a column of *count* rows with values by row."""
        values = tuple(dict.fromkeys(found.values()))
        places = {value: place for place, value in enumerate(values)}
        codes = np.full(count, _MISSING, dtype=np.int64)
        codes[list(found)] = [places[value] for value in found.values()]
        return cls(values=values, codes=codes)

    def updated(self, rows: Ints, found: Mapping[int, _Value]) -> Column:
        """Return this column with the values of *rows* replaced by those that are *found*."""
        places = {value: place for place, value in enumerate(self.values)}
        for value in found.values():
            places.setdefault(value, len(places))
        new = [places[found[row]] if row in found else _MISSING for row in rows.tolist()]
        if self.codes[rows].tolist() == new:
            return self
        codes = self.codes.copy()
        codes[rows] = new
        return Column(values=tuple(places), codes=codes)

    def where(self, holds: Callable[[_Value], bool]) -> Bools:
        """Whether each row has a value for which *holds* is true."""
        # The last one is that of rows without a value, whose code is -1.
        found: Bools = np.array([*map(holds, self.values), False])[self.codes]
        return found


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Columns:
    """All properties of the rows of a block; immutable.

    :ivar found: by kind and name
    """

    found: Mapping[tuple[str, str], Column] = dataclasses.field(default_factory=dict)

    def numbers(self, kind: str, name: str, rows: Iterable[int]) -> list[float | None]:
        """Return the values of a property as numbers, by row; None for a row without one."""
        column = self.found.get((kind, name))
        if column is None:
            return [None for _ in rows]
        values = (*column.values, ('', None))
        return [values[column.codes[row]][1] for row in rows]

    def updated(self, ids: Ints, rows: Ints, new: Iterable[Property]) -> Columns:
        """Return these properties with all of some rows replaced.

        :param ids: of the resources of all rows, in ascending order
        :param rows: that are replaced
        """
        values: defaultdict[tuple[str, str], dict[int, _Value]] = defaultdict(dict)
        places = dict(zip(ids[rows].tolist(), rows.tolist(), strict=True))
        for one in new:
            value = one.value, one.number
            mine = [places[key] for key in one.resource_ids if key in places]
            values[one.kind, one.name].update(dict.fromkeys(mine, value))
        return Columns(
            found={
                key: self.found[key].updated(rows, values.get(key, {}))
                if key in self.found
                else Column.of(values[key], len(ids))
                for key in {*self.found, *values}
            }
        )

    def picked(self, rows: Ints) -> Columns:
        """Return the properties of some rows."""
        return Columns(
            found={
                key: dataclasses.replace(column, codes=column.codes[rows])
                for key, column in self.found.items()
            }
        )

    def have(self, trait: str, count: int) -> Bools:
        """Whether each of *count* rows has a trait."""
        column = self.found.get((TRAIT, trait))
        return np.zeros(count, dtype=np.bool_) if column is None else column.codes != _MISSING

    def meet(self, requirement: Requirement, hidden: Collection[str], count: int) -> Bools:
        """Whether each of *count* rows meets a requirement.

        :param hidden: names of properties that are treated as missing
        """
        match requirement:
            case Comparison():
                return self._compared(requirement, hidden, count)
            case Trait(name=name):
                return self.have(name, count)
            case requirements.All(parts=parts):
                return functools.reduce(
                    operator.and_, (self.meet(part, hidden, count) for part in parts)
                )
            case requirements.AnyOf(parts=parts):
                return functools.reduce(
                    operator.or_, (self.meet(part, hidden, count) for part in parts)
                )
            case requirements.Not(part=part):
                return ~self.meet(part, hidden, count)

    def _compared(self, comparison: Comparison, hidden: Collection[str], count: int) -> Bools:
        found = np.zeros(count, dtype=np.bool_)
        if comparison.key in hidden:
            return found
        for (kind, name), column in self.found.items():
            if name == comparison.key and kind != TRAIT:
                found |= column.where(lambda value: requirements.fulfils(comparison, *value))
        return found
