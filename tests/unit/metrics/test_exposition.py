# SPDX-License-Identifier: Apache-2.0

"""What Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterator

import webob
from prometheus_client import parser

from climate.metrics import catalogue
from climate.metrics.catalogue import Exporter
from climate.metrics.exposition import PrometheusRecorder
from climate.metrics.reading import Reading
from tests import base


def scraped(recorder: PrometheusRecorder) -> dict[str, dict[tuple[str, ...], float]]:
    """Return the values of all series, by name and values of labels."""
    answer = webob.Request.blank('/metrics').get_response(recorder.app())
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in parser.text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = tuple(sample.labels[name] for name in sorted(sample.labels))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


class TestExposition(base.TestCase):
    """One process alone; tests/functional/test_metrics.py has several."""

    def test_each_type(self) -> None:
        recorder = PrometheusRecorder(Exporter.MANAGER)
        recorder.count(catalogue.EVENTS, ('end_lease', 'done'), 2)
        recorder.observe(catalogue.LATENESS, ('end_lease',), 0.2)
        recorder.set(catalogue.CONNECTIONS, (), 4)
        found = scraped(recorder)
        self.assertEqual(2, found['climate_events_total']['end_lease', 'done'])
        self.assertEqual(0.2, found['climate_lease_lateness_seconds_sum']['end_lease',])
        buckets = found['climate_lease_lateness_seconds_bucket']
        self.assertEqual(0, buckets['end_lease', '0.1'])
        self.assertEqual(1, buckets['end_lease', '0.25'])
        self.assertEqual(4, found['climate_database_connections'][()])

    def test_only_series_of_the_table(self) -> None:
        recorder = PrometheusRecorder(Exporter.BOTH)
        for metric in catalogue.ALL:
            recorder.count(metric, ['a'] * len(metric.labels), 1)
        known = {name for metric in catalogue.ALL for name in metric.series}
        self.assertEqual(set(), scraped(recorder).keys() - known)

    def test_other_processes_have_the_others(self) -> None:
        api, manager = (PrometheusRecorder(kind) for kind in (Exporter.API, Exporter.MANAGER))
        for recorder in (api, manager):
            recorder.count(catalogue.REFUSALS, ('NOT_FOUND',), 1)
            recorder.count(catalogue.CLAIMS, (), 1)
        self.assertIn('climate_api_refusals_total', scraped(api))
        self.assertNotIn('climate_claims_total', scraped(api))
        self.assertIn('climate_claims_total', scraped(manager))
        self.assertNotIn('climate_api_refusals_total', scraped(manager))

    def test_wrong_labels_do_not_raise(self) -> None:
        recorder = PrometheusRecorder(Exporter.MANAGER)
        recorder.count(catalogue.EVENTS, ('end_lease',), 1)
        self.assertNotIn('climate_events_total', scraped(recorder))

    def test_readings(self) -> None:
        def working() -> Iterator[Reading]:
            for status in ('ACTIVE', 'ERROR'):
                yield Reading(metric=catalogue.LEASES, value=3, labels=(status,))

        def broken() -> Iterator[Reading]:
            raise RuntimeError('a bug')

        recorder = PrometheusRecorder(Exporter.MANAGER)
        recorder.read([broken, working])
        self.assertEqual({('ACTIVE',): 3, ('ERROR',): 3}, scraped(recorder)['climate_leases'])
