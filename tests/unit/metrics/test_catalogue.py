# SPDX-License-Identifier: Apache-2.0

"""The table of metrics: names, labels, and that each metric is used."""

from __future__ import annotations

import re

from climate.metrics import catalogue
from climate.metrics.catalogue import MetricSpec
from climate.metrics.catalogue import MetricType
from tests import architecture
from tests import base

# A label that is added here must have a bounded number of values.
BOUNDED = {
    'event',
    'group',
    'cause',
    'kind',
    'method',
    'mode',
    'outcome',
    'reason',
    'resource_class',
    'resource_type',
    'route',
    'service',
    'state',
    'status',
    'source',
}


class TestTable(base.TestCase):
    """Names as Prometheus wants them, and labels without ids."""

    def test_names(self) -> None:
        names = [metric.name for metric in catalogue.ALL]
        self.assertEqual(sorted(set(names)), sorted(names))
        for metric in catalogue.ALL:
            self.assertRegex(metric.name, r'^climate(_[a-z]+)+$')
            is_counter = metric.type is MetricType.COUNTER
            self.assertEqual(is_counter, metric.name.endswith('_total'), metric.name)
            self.assertEqual(metric.type is MetricType.HISTOGRAM, bool(metric.buckets), metric.name)
            self.assertTrue(not metric.read or metric.type is MetricType.GAUGE, metric.name)

    def test_labels_are_bounded(self) -> None:
        used = {label for metric in catalogue.ALL for label in metric.labels}
        self.assertEqual(set(), used - BOUNDED)
        self.assertEqual(set(), BOUNDED - used, 'not used any more')

    def test_texts_are_sentences(self) -> None:
        for metric in catalogue.ALL:
            self.assertRegex(metric.text, r'^[A-Z][^\n]*\.$')

    def test_all_constants_are_in_the_table(self) -> None:
        constants = [each for each in vars(catalogue).values() if isinstance(each, MetricSpec)]
        self.assertCountEqual(constants, catalogue.ALL)

    def test_each_metric_is_recorded_or_read(self) -> None:
        names = {id(value): name for name, value in vars(catalogue).items()}
        text = '\n'.join(each.text for each in architecture.sources('climate'))
        for metric in catalogue.ALL:
            name = names[id(metric)]
            self.assertTrue(re.search(rf'catalogue\.{name}\b', text), f'nothing uses {name}')

    def test_series(self) -> None:
        self.assertEqual(('climate_claims_total',), catalogue.CLAIMS.series)
        name = 'climate_lease_lateness_seconds'
        found = catalogue.LATENESS.series
        self.assertEqual((f'{name}_bucket', f'{name}_count', f'{name}_sum'), found)
