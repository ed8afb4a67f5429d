# SPDX-License-Identifier: Apache-2.0

"""The table of all metrics, made from the code."""

from __future__ import annotations

from climate.metrics import catalogue
from climate.metrics.catalogue import Exporter
from climate.metrics.catalogue import MetricSpec

_HEAD = ('Metric', 'Type', 'Labels', 'Exposed by', 'Description')
_EXPORTERS = {Exporter.API: 'API', Exporter.MANAGER: 'managers', Exporter.BOTH: 'both'}


def rst_table() -> str:
    """Return a ``list-table`` with a row per metric."""
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in (_HEAD, *map(_row, catalogue.ALL)):
        lines += [f'   {"*" if not place else " "} - {cell}' for place, cell in enumerate(row)]
    return '\n'.join([*lines, ''])


def _row(metric: MetricSpec) -> tuple[str, ...]:
    labels = ', '.join(f'``{label}``' for label in metric.labels)
    kind, exporter = metric.type.value, _EXPORTERS[metric.exporter]
    return (f'``{metric.name}``', kind, labels, exporter, metric.text)
