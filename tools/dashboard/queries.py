# SPDX-License-Identifier: Apache-2.0

"""Evaluates the queries of the dashboard on samples, as Prometheus would.

Only what the dashboard needs: selectors with matchers, ``rate``, ``histogram_quantile``,
``abs``, ``topk``, aggregation by labels, and binary operators on vectors with the same
labels. A variable of the dashboard matches everything. An unknown function raises, so that
the dashboard cannot outgrow this unnoticed.
"""

from __future__ import annotations

import operator
import re
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Final

from prometheus_client import parser

Labels = frozenset[tuple[str, str]]
Vector = Mapping[Labels, float]
Scrape = Mapping[str, Mapping[Labels, float]]
"""The value of each series, by the name of its metric and its labels."""

_TOKEN = re.compile(r'[A-Za-z_:$][\w:$]*|\d+(?:\.\d+)?|"[^"]*"|!=|=~|[-=/>(){}\[\],]')
_AGGREGATES: Final[Mapping[str, Callable[[Iterable[float]], float]]] = {
    'count': lambda values: float(len([*values])),
    'max': max,
    'min': min,
    'sum': sum,
}
_OPERATORS: Final[Mapping[str, Callable[[float, float], float]]] = {
    '-': operator.sub,
    '/': operator.truediv,
}


def scrape(text: str, instance: str = 'climate') -> Scrape:
    """Return the samples of a response to ``/metrics``."""
    found: dict[str, dict[Labels, float]] = defaultdict(dict)
    for family in parser.text_string_to_metric_families(text):
        for sample in family.samples:
            labels = frozenset({**sample.labels, 'instance': instance}.items())
            found[sample.name][labels] = sample.value
    return found


def _matches(value: str, wanted: str, sign: str) -> bool:
    if sign == '=~':
        return wanted.startswith('$') or re.fullmatch(wanted, value) is not None
    return (value == wanted) == (sign == '=')


class QueryError(Exception):
    """The dashboard uses something that this module does not know."""


class Evaluation:
    """Evaluates one query at the time of the last of some scrapes.

    :param scrapes: the latest ones, the oldest first, over which ``rate`` is taken
    :param seconds: the time between the first and the last
    """

    def __init__(self, query: str, scrapes: Sequence[Scrape], seconds: float) -> None:
        self._tokens = _TOKEN.findall(query)
        self._scrapes = scrapes
        self._seconds = seconds

    def result(self) -> Vector:
        """Return the value of each series.

        :raises QueryError: if the query is not understood
        """
        found = self._exception()
        if self._tokens:
            raise QueryError(f'not understood: {self._tokens}')
        return found

    def _take(self, *expected: str) -> str:
        if not self._tokens or (expected and self._tokens[0] not in expected):
            raise QueryError(f'{expected} expected at {self._tokens}')
        return str(self._tokens.pop(0))

    def _is_next(self, token: str) -> bool:
        return bool(self._tokens) and self._tokens[0] == token

    def _exception(self) -> Vector:
        found = self._comparison()
        if not self._is_next('unless'):
            return found
        self._take('unless')
        others = self._comparison()
        return {labels: value for labels, value in found.items() if labels not in others}

    def _comparison(self) -> Vector:
        found = self._difference()
        if not self._is_next('>'):
            return found
        self._take('>')
        least = float(self._take())
        return {labels: value for labels, value in found.items() if value > least}

    def _difference(self) -> Vector:
        found = self._term()
        while self._tokens and self._tokens[0] in _OPERATORS:
            apply = _OPERATORS[self._take()]
            other = self._term()
            found = {
                labels: apply(value, other[labels])
                for labels, value in found.items()
                if labels in other
            }
        return found

    def _term(self) -> Vector:
        if self._is_next('('):
            return self._in_brackets()
        name = self._take()
        if name in _AGGREGATES:
            return self._aggregate(_AGGREGATES[name])
        if not self._is_next('('):
            return self._select(self._scrapes[-1], name, self._matchers())
        match name:
            case 'rate':
                return self._rate()
            case 'abs':
                return {labels: abs(value) for labels, value in self._in_brackets().items()}
            case 'topk':
                return self._top()
            case 'histogram_quantile':
                return self._quantile()
        raise QueryError(f'unknown function: {name}')

    def _in_brackets(self) -> Vector:
        self._take('(')
        found = self._comparison()
        self._take(')')
        return found

    def _with_number(self) -> tuple[float, Vector]:
        self._take('(')
        number = float(self._take())
        self._take(',')
        found = self._comparison()
        self._take(')')
        return number, found

    def _matchers(self) -> list[tuple[str, str, str]]:
        found: list[tuple[str, str, str]] = []
        if not self._is_next('{'):
            return found
        self._take('{')
        while not self._is_next('}'):
            found.append((self._take(), self._take('=', '!=', '=~'), self._take().strip('"')))
            if self._is_next(','):
                self._take(',')
        self._take('}')
        return found

    def _select(
        self, scraped: Scrape, name: str, matchers: Iterable[tuple[str, str, str]]
    ) -> Vector:
        return {
            labels: value
            for labels, value in scraped.get(name, {}).items()
            if all(
                _matches(dict(labels).get(label, ''), text, sign) for label, sign, text in matchers
            )
        }

    def _aggregate(self, combine: Callable[[Iterable[float]], float]) -> Vector:
        by: set[str] = set()
        if self._is_next('by'):
            self._take('by')
            while (token := self._take()) != ')':
                by.add(token)
        groups: dict[Labels, list[float]] = defaultdict(list)
        for labels, value in self._in_brackets().items():
            groups[frozenset(pair for pair in labels if pair[0] in by)].append(value)
        return {labels: combine(values) for labels, values in groups.items()}

    def _rate(self) -> Vector:
        self._take('(')
        name = self._take()
        matchers = self._matchers()
        for token in ('[', '$__rate_interval', ']', ')'):
            self._take(token)
        first = self._select(self._scrapes[0], name, matchers)
        last = self._select(self._scrapes[-1], name, matchers)
        if not self._seconds:
            return {}
        return {
            labels: (value - first.get(labels, 0.0)) / self._seconds
            for labels, value in last.items()
        }

    def _top(self) -> Vector:
        number, found = self._with_number()
        ordered = sorted(found.items(), key=operator.itemgetter(1), reverse=True)
        return dict(ordered[: int(number)])

    def _quantile(self) -> Vector:
        share, found = self._with_number()
        buckets: dict[Labels, list[tuple[float, float]]] = defaultdict(list)
        for labels, value in found.items():
            bound = float(dict(labels)['le'])
            rest = frozenset(pair for pair in labels if pair[0] != 'le')
            buckets[rest].append((bound, value))
        quantiles = {labels: _quantile(share, sorted(each)) for labels, each in buckets.items()}
        return {labels: value for labels, value in quantiles.items() if value is not None}


def _quantile(share: float, buckets: Sequence[tuple[float, float]]) -> float | None:
    """Return a quantile of a histogram, interpolated in its bucket; None without values."""
    total = buckets[-1][1]
    if total <= 0:
        return None
    below, start = 0.0, 0.0
    for bound, count in buckets:
        if count >= share * total:
            if bound == float('inf'):
                return start
            inside = count - below
            return start + (bound - start) * ((share * total - below) / inside if inside else 1.0)
        below, start = count, bound
    return start
