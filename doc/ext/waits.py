# SPDX-License-Identifier: Apache-2.0

"""The picture of how long leases wait in workloads that were replayed, beside published figures.

The record is ``doc/data/planner.json``: for each workload and way, the figures that
``benchmarks.planner --json`` has printed, or those that were published.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doc.ext import charts
from doc.ext.sheet import Sheet

# The ways in their order, each with its class.
_WAYS = {
    'cancel and queue again': 'out',
    'Climate': 'first',
    'suspend and resume': 'second',
    'Climate, preemptible': 'third',
}
_THICK = 13


def waits(record: Mapping[str, Any] | None = None) -> charts.Picture:
    """Draw the mean wait of each workload: a bar for each way that was measured."""
    runs = (record or charts.read('planner.json'))['runs']
    shares = sorted({run['share'] for run in runs})
    row = 24 + _THICK * len(_WAYS)
    sheet = Sheet(height=48 + row * len(shares) + 28)
    sheet.text(12, 24, 'Mean wait of leases without a fixed start, in 1,000 s', 'head')
    scale = (sheet.width - 80) / max(map(_mean, runs))
    for number, share in enumerate(shares):
        y = 44 + row * number
        sheet.text(12, y + 12, f'{share} % of all for leases with a fixed start')
        for run in (each for each in runs if each['share'] == share):
            place = y + 17 + _THICK * list(_WAYS).index(run['way'])
            length = _mean(run) * scale
            sheet.bar(12, place, length, _THICK - 2, _WAYS[run['way']], run['way'])
            sheet.text(18 + length, place + 9, f'{_mean(run):.1f}', 'small')
    charts.legend(sheet, 12, 48 + row * len(shares) + 14, _WAYS.items())
    words = [f'{one["share"]} %, {one["way"]}: {_mean(one):.1f}.' for one in runs]
    title = 'How long leases wait'
    return charts.Picture(sheet=sheet, title=title, description=' '.join(words))


def _mean(run: Mapping[str, Any]) -> float:
    (found,) = (one['value'] for one in run['figures'] if one['what'] == 'mean wait')
    return float(found)
