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
