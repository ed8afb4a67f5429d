# SPDX-License-Identifier: Apache-2.0

"""The dashboard, the alert rules and their documentation name metrics that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any

import testtools
import yaml

from climate.db.timelines.counts import TimelineEvent
from climate.domain.events import EventKind
from climate.domain.lifecycles import LeaseStatus
from climate.manager.claims.measures import AttemptOutcome
from climate.manager.claims.measures import EventOutcome
from climate.metrics import catalogue
from climate.metrics.catalogue import MetricSpec
from doc.ext import metrics_table
from tests import architecture
from tests import base

FOLDER = architecture.ROOT / 'etc' / 'climate'
DASHBOARD = FOLDER / 'grafana-dashboard.json'
ALERTS = FOLDER / 'alerts.yaml'
PAGE = architecture.ROOT / 'doc' / 'source' / 'admin' / 'metrics.rst'

_SERIES = {name: metric for metric in catalogue.ALL for name in metric.series}
_NAME = re.compile(r'\b(climate_\w+)(\{[^}]*\})?')
_MATCHER = re.compile(r'(\w+)\s*(?:=|!=|=~|!~)\s*"([^"]*)"')
_BY = re.compile(r'\bby\s*\(([^)]*)\)')
_LEGEND = re.compile(r'\{\{\s*(\w+)\s*\}\}')
# Prometheus adds this label to each series.
# Labels that Prometheus adds to each series, the second if it is configured to.
_ADDED = {'instance', 'region'}
_RUNBOOKS = 'https://docs.example.org/climate/'
_TARGET = re.compile(r'_`(Climate[A-Z]\w+)`')
_VALUES = {
    ('climate_events_total', 'outcome'): set(EventOutcome),
    ('climate_events_total', 'event'): set(EventKind),
    ('climate_timeline_events_total', 'event'): set(TimelineEvent),
    ('climate_cloud_call_seconds', 'outcome'): {'ok', 'refused', 'unavailable'},
    ('climate_outbox_messages', 'state'): {'waiting', 'set_aside'},
    ('climate_webhook_attempt_seconds', 'outcome'): set(AttemptOutcome),
    ('climate_webhook_events', 'state'): {'waiting', 'dead'},
    ('climate_leases', 'status'): set(LeaseStatus),
    ('climate_resources', 'state'): {'available', 'disabled', 'failed'},
}


def complaints(expression: str) -> Iterator[str]:
    """Yield what is wrong with the names, labels and values of an expression."""
    used: list[MetricSpec] = []
    labels: set[str] = set()
    names = _NAME.findall(expression)
    for name, matchers in names:
        if name not in _SERIES:
            yield f'no metric {name}'
            continue
        metric = _SERIES[name]
        used.append(metric)
        for label, value in _MATCHER.findall(matchers):
            if label not in {*metric.labels, *_ADDED}:
                yield f'{name} has no label {label}'
            known = _VALUES.get((metric.name, label))
            if known is not None and value not in known and not value.startswith('$'):
                yield f'{label} of {name} is never {value}'
    for each in _BY.findall(expression):
        labels |= {label.strip() for label in each.split(',')}
    allowed = set(_ADDED).union(*(metric.labels for metric in used))
    if any(metric.buckets for metric in used):
        allowed.add('le')
    yield from (f'no label {label} in {expression}' for label in sorted(labels - allowed))
    if not names:
        yield f'no metric in {expression}'


def targets() -> Iterator[dict[str, Any]]:
    """Yield the queries of the dashboard."""
    for panel in json.loads(DASHBOARD.read_text(encoding='utf-8'))['panels']:
        yield from panel.get('targets', [])


def rules() -> list[dict[str, Any]]:
    """Return the alert rules."""
    groups = yaml.safe_load(ALERTS.read_text(encoding='utf-8'))['groups']
    return [rule for group in groups for rule in group['rules']]


class TestShipped(base.TestCase):
    """Both files."""

    def assert_right(self, expressions: Iterable[str]) -> None:
        self.assertEqual([], [line for each in expressions for line in complaints(each)])

    def test_dashboard(self) -> None:
        self.assert_right(target['expr'] for target in targets())
        for target in targets():
            named = set(_LEGEND.findall(target['legendFormat'])) - _ADDED
            self.assertEqual(
                set(),
                {each for each in named if each not in target['expr']}
                - {
                    label
                    for name, _ in _NAME.findall(target['expr'])
                    for label in _SERIES[name].labels
                },
            )

    def test_panels(self) -> None:
        panels = json.loads(DASHBOARD.read_text(encoding='utf-8'))['panels']
        self.assertEqual(list(range(1, len(panels) + 1)), [panel['id'] for panel in panels])
        for panel in panels:
            self.assertTrue(panel['type'] == 'row' or panel['description'], panel['title'])

    def test_every_metric_is_drawn(self) -> None:
        drawn = {name for each in targets() for name, _ in _NAME.findall(each['expr'])}
        missing = {each.name for each in catalogue.ALL if not drawn.intersection(each.series)}
        self.assertEqual(set(), missing)

    def test_the_first_row_has_the_figures_of_now(self) -> None:
        panels = json.loads(DASHBOARD.read_text(encoding='utf-8'))['panels']
        row, *figures = panels[:7]
        self.assertEqual(('row', 0), (row['type'], row['gridPos']['y']))
        self.assertEqual(['stat'] * 6, [each['type'] for each in figures])
        self.assertEqual([*range(0, 24, 4)], [each['gridPos']['x'] for each in figures])
        self.assertEqual(1, len({each['gridPos']['y'] for each in figures}))
        self.assertNotIn('stat', [each['type'] for each in panels[7:]])

    def test_variables_apply_to_all_queries(self) -> None:
        variables = json.loads(DASHBOARD.read_text(encoding='utf-8'))['templating']['list']
        names = [each['name'] for each in variables]
        self.assertEqual(['datasource', 'region', 'instance', 'resource_type', 'docs'], names)
        for each in targets():
            for name, matchers in _NAME.findall(each['expr']):
                wanted = {'region', 'instance'} | ({'resource_type'} & {*_SERIES[name].labels})
                found = {label for label, value in _MATCHER.findall(matchers) if value[0] == '$'}
                self.assertEqual(wanted, found, each['expr'])

    def test_links_lead_to_pages_and_rows_of_the_documentation(self) -> None:
        dashboard = json.loads(DASHBOARD.read_text(encoding='utf-8'))
        links = [
            *dashboard['links'],
            *(one for each in dashboard['panels'] for one in each.get('links', [])),
        ]
        self.assertGreater(len(links), 6)
        self.assertIn(
            _RUNBOOKS.rstrip('/'), [each.get('query') for each in dashboard['templating']['list']]
        )
        rows = {name.lower() for name in _TARGET.findall(PAGE.read_text(encoding='utf-8'))}
        for link in links:
            page, _, row = link['url'].removeprefix('${docs}/').partition('#')
            self.assertTrue(
                (architecture.ROOT / 'doc' / 'source' / page).with_suffix('.rst').exists()
            )
            self.assertIn(row, {'', *rows})

    def test_alerts(self) -> None:
        self.assert_right(rule['expr'] for rule in rules())
        names = [rule['alert'] for rule in rules()]
        self.assertEqual(len(names), len(set(names)))
        for rule in rules():
            self.assertIn(rule['labels']['severity'], ('warning', 'critical'))
            self.assertTrue(rule['annotations']['summary'])
            page = f'{_RUNBOOKS}admin/metrics.html#{rule["alert"].lower()}'
            self.assertEqual(page, rule['annotations']['runbook_url'])

    def test_the_page_explains_every_alert(self) -> None:
        explained = set(_TARGET.findall(PAGE.read_text(encoding='utf-8')))
        self.assertEqual(explained, {rule['alert'] for rule in rules()})

    def test_the_page_names_metrics_that_exist(self) -> None:
        names = set(re.findall(r'\bclimate_[a-z]\w+', PAGE.read_text(encoding='utf-8')))
        self.assertEqual(set(), names - {metric.name for metric in catalogue.ALL})

    def test_the_table_has_all(self) -> None:
        table = metrics_table.rst_table()
        for metric in catalogue.ALL:
            self.assert_contains(table, f'``{metric.name}``', metric.text)

    @testtools.skipUnless(shutil.which('promtool'), 'promtool is not installed')
    def test_prometheus_reads_the_rules(self) -> None:
        subprocess.run(['promtool', 'check', 'rules', str(ALERTS)], check=True, timeout=60)


class TestComplaints(base.TestCase):
    """What the checks find."""

    def test_wrong_expressions(self) -> None:
        for expression in (
            'climate_lease',
            'climate_claims_total{kind="x"}',
            'climate_events_total{outcome="lost"}',
            'sum by (kind) (climate_events_total)',
            'sum by (le) (climate_events_total)',
            'climate_lease_lateness_seconds',
            'up',
        ):
            self.assertEqual(1, len([*complaints(expression)]), expression)

    def test_right_expressions(self) -> None:
        for expression in (
            'climate_leases{status="ACTIVE"}',
            'sum by (instance, outcome) (climate_events_total{event="start_lease"})',
            'sum by (le) (rate(climate_lease_lateness_seconds_bucket[5m]))',
        ):
            self.assertEqual([], [*complaints(expression)], expression)
