# SPDX-License-Identifier: Apache-2.0

"""The prices of an operator, by which offers can be compared; nothing is charged."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

import numpy as np
from numpy import typing as npt

from climate import exceptions
from climate.allocation.steps import Ints

_HOURS: Final = 24
_MINUTE: Final = 60_000_000
_HOUR: Final = 60 * _MINUTE
_ALWAYS: Final = (1.0,) * _HOURS
_FACTOR: Final = re.compile(r'\s*([0-9]{1,2})-([0-9]{1,2})\s*=(.*)', re.ASCII | re.DOTALL)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """The prices of an hour.

    :ivar units: by resource type, or by type and class with a slash between them
    :ivar factors: for each hour of the day in UTC
    """

    units: Mapping[str, float] = dataclasses.field(default_factory=dict)
    factors: tuple[float, ...] = dataclasses.field(default_factory=lambda: _ALWAYS)

    @classmethod
    def from_conf(cls, conf: Any) -> Prices:
        """Return the prices that *conf* (an oslo.config ConfigOpts) sets.

        :raises climate.exceptions.ConfigurationError: if one is not valid
        """
        units = {}
        for text in conf.offers.price:
            name, equals, number = text.rpartition('=')
            price = _number(number)
            if not equals or not name.strip() or price is None:
                raise exceptions.ConfigurationError(
                    f"[offers] price: '{text}' is not RESOURCE_TYPE=PRICE or "
                    'RESOURCE_TYPE/RESOURCE_CLASS=PRICE with a price from 0'
                )
            units[name.strip()] = price
        return cls(units=units, factors=_factors(conf.offers.price_factors))

    def rate(self, resource_type: str, slots: int, classes: Mapping[str, int]) -> float:
        """Return what an hour of a reservation costs at a factor of 1.

        :param classes: units by resource class
        """
        total = slots * self.units.get(resource_type, 0.0)
        for name, units in classes.items():
            total += units * self.units.get(f'{resource_type}/{name}', 0.0)
        return total

    def hours(self, starts: Ints, length: int) -> npt.NDArray[np.float64]:
        """Return how many hours at a factor of 1 cost as much as periods.

        :param starts: in microseconds since 1970
        :param length: of each period, in microseconds
        """
        return self._until(starts + length) - self._until(starts)

    def changes(self, first: int, last: int) -> Ints:
        """Return the instants between two at which the factor changes.

        :param first: in microseconds since 1970, like *last*
        """
        hours = np.arange(-(-first // _HOUR), last // _HOUR + 1, dtype=np.int64)
        factors = np.array(self.factors)
        differs = factors[hours % _HOURS] != factors[(hours - 1) % _HOURS]
        instants: Ints = hours[differs] * _HOUR
        return instants

    def turns(self, first: int, last: int, length: int) -> Ints:
        """Return starts of periods; none between two of these is cheaper than both.

        The cost is a linear function of the start as long as neither start nor end pass a
        change of the factor. Only whole minutes count.

        :param first: the first start, in microseconds since 1970
        :param last: the last start, likewise
        :param length: of the period, in microseconds
        """
        changes = self.changes(first, last + length)
        before = (changes - length) // _MINUTE * _MINUTE
        ends = np.array([first, last // _MINUTE * _MINUTE], dtype=np.int64)
        times = np.concatenate([ends, changes, before, before + _MINUTE])
        starts: Ints = np.unique(times[(times >= first) & (times <= last)])
        return starts

    def _until(self, times: Ints) -> npt.NDArray[np.float64]:
        """Return the integral of the factor from 1970 on, in hours."""
        sums = np.concatenate([[0.0], np.cumsum(self.factors)])
        days, rest = times // (_HOURS * _HOUR), times % (_HOURS * _HOUR)
        integral: npt.NDArray[np.float64] = days * sums[-1] + np.interp(
            rest / _HOUR, np.arange(_HOURS + 1), sums
        )
        return integral


def _factors(texts: Sequence[str]) -> tuple[float, ...]:
    factors = list(_ALWAYS)
    for text in texts:
        match = _FACTOR.fullmatch(text)
        factor = _number(match[3]) if match else None
        if match is None or factor is None or not int(match[1]) < int(match[2]) <= _HOURS:
            raise exceptions.ConfigurationError(
                f"[offers] price_factors: '{text}' is not FROM-TO=FACTOR with hours from 0 to "
                f'{_HOURS} and a factor from 0'
            )
        for hour in range(int(match[1]), int(match[2])):
            factors[hour] = factor
    return tuple(factors)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
