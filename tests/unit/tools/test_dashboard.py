# SPDX-License-Identifier: Apache-2.0

"""The queries of the dashboard are evaluated as Prometheus would."""

from __future__ import annotations

from tests import base
from tools.dashboard import __main__ as program
from tools.dashboard.queries import Evaluation
from tools.dashboard.queries import QueryError
from tools.dashboard.queries import scrape

BEFORE = """
a_total{kind="x",ok="yes"} 10
a_total{kind="x",ok="no"} 1
"""
AFTER = """
a_total{kind="x",ok="yes"} 30
a_total{kind="x",ok="no"} 1
a_total{kind="y",ok="no"} 5
h_bucket{le="1.0"} 50
h_bucket{le="2.0"} 90
h_bucket{le="+Inf"} 100
used{c="cpu"} 3
used{c="ram"} 0
has{c="cpu"} 4
has{c="ram"} 0
"""


class TestQueries(base.TestCase):
    """Values that were calculated by hand."""

    def value(self, query: str) -> dict[str, float]:
        """Return the values of a query after ten seconds, by the values of labels."""
        found = Evaluation(query, [scrape(BEFORE), scrape(AFTER)], 10.0).result()
        return {
            ' '.join(text for name, text in sorted(labels) if name != 'instance'): value
            for labels, value in found.items()
        }

    def test_selectors(self) -> None:
        self.assertEqual({'x no': 1.0, 'y no': 5.0}, self.value('a_total{ok!="yes"}'))
        self.assertEqual({'y no': 5.0}, self.value('a_total{ok="no",kind="y"}'))
        self.assertEqual({'x no': 1.0, 'x yes': 30.0}, self.value('a_total{kind=~"x|z"}'))
        self.assertEqual({'y no': 5.0}, self.value('a_total{region=~"$region",kind="y"}'))
        self.assertEqual({}, self.value('unknown'))

    def test_rates(self) -> None:
        found = self.value('sum by (kind) (rate(a_total[$__rate_interval]))')
        self.assertEqual({'x': 2.0, 'y': 0.5}, found)

    def test_aggregates(self) -> None:
        self.assertEqual({'': 36.0}, self.value('sum(a_total)'))
        self.assertEqual({'no': 5.0, 'yes': 30.0}, self.value('max by (ok) (a_total)'))
        self.assertEqual({'no': 2.0, 'yes': 1.0}, self.value('count by (ok) (a_total)'))
        self.assertEqual({'x yes': 30.0}, self.value('topk(1, a_total)'))

    def test_operators(self) -> None:
        self.assertEqual({'cpu': 0.75}, self.value('used / (has > 0)'))
        self.assertEqual({'cpu': 1.0, 'ram': 0.0}, self.value('has - used'))
        self.assertEqual({'ram': 0.0}, self.value('has - used unless (has > 0)'))
        self.assertEqual({'cpu': 1.0, 'ram': 0.0}, self.value('abs(used - has)'))

    def test_quantiles(self) -> None:
        self.assertEqual({'': 1.0}, self.value('histogram_quantile(0.5, sum by (le) (h_bucket))'))
        self.assertEqual({'': 1.5}, self.value('histogram_quantile(0.7, sum by (le) (h_bucket))'))
        self.assertEqual({'': 2.0}, self.value('histogram_quantile(0.99, sum by (le) (h_bucket))'))

    def test_unknown(self) -> None:
        for query in ('irate(a_total[5m])', 'sum(a_total', 'a_total a_total'):
            self.assertRaises(QueryError, self.value, query)

    def test_the_dashboard(self) -> None:
        queries = [target['expr'] for panel in program.panels() for target in panel['targets']]
        self.assertGreater(len(queries), 20)
        for query in queries:
            self.value(query)
        self.assertEqual('x done', program.legend('{{event}} done', {('event', 'x')}))
