# SPDX-License-Identifier: Apache-2.0

"""The picture of what is free, and of what is offered for some requests."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

from doc.ext import charts
from doc.ext.sheet import Sheet

_LABEL = 116
_ROW = 30
_TOP = 50
_HOUR = datetime.timedelta(hours=1)


def free_hosts(record: Mapping[str, Any] | None = None) -> charts.Picture:
    """Draw how many hosts are free in each hour, and the offers for some requests.

    :param record: as ``tools/record_hosts.py`` prints it
    """
    record = record or charts.read('hosts.json')
    free, total = record['free']['hosts'], len(record['hosts'])
    began = datetime.datetime.fromisoformat(record['free']['start'])
    sheet = Sheet(height=_TOP + _ROW * (1 + len(record['offers'])) + 30, width=620)
    scale = (sheet.width - _LABEL - 12) / len(free)
    bottom = _TOP + _ROW * (1 + len(record['offers']))

    def place(time: str) -> float:
        return _LABEL + (datetime.datetime.fromisoformat(time) - began) / _HOUR * scale

    sheet.text(12, 24, f'Free hosts of {total} in each hour, and what is offered', 'head')
    for hour in range(0, len(free), 6):
        x = place((began + hour * _HOUR).isoformat())
        sheet.line(x, _TOP - 6, x, bottom)
        sheet.text(x, _TOP - 10, f'{began + hour * _HOUR:%H:%M}', 'small', 'middle')
    sheet.text(12, _TOP + 18, 'hosts free')
    for hour, hosts in enumerate(free):
        _cell(sheet, _LABEL + hour * scale, scale, hosts, total)
    for number, asked in enumerate(record['offers'], start=1):
        y = _TOP + _ROW * number
        sheet.text(12, y + 18, _asked(asked))
        for rank, period in enumerate(asked['periods'], start=1):
            x = place(period['start'])
            width = place(period['end']) - x - 1
            sheet.bar(x, y + 3, width, _ROW - 8, 'third', f'{period["start"]} to {period["end"]}')
            sheet.text(x + width / 2, y + 18, str(rank), 'inside', 'middle')
    charts.legend(sheet, 12, bottom + 20, (('free', 'first'), ('offer', 'third')))
    return charts.Picture(
        sheet=sheet, title='Free hosts over time, with offers', description=_described(record)
    )


def _cell(sheet: Sheet, x: float, width: float, hosts: int, total: int) -> None:
    share = hosts / total
    sheet.add(
        'rect', class_='first', fill_opacity=max(share, 0.06), x=x, y=_TOP + 2,
        width=width - 1, height=_ROW - 6, rx=1,
    )  # fmt: skip
    kind = 'inside' if share > 0.5 else 'small'
    sheet.text(x + (width - 1) / 2, _TOP + 18, str(hosts), kind, 'middle')


def _asked(asked: Mapping[str, Any]) -> str:
    hosts = f'{asked["hosts"]} host' + 's' * (asked['hosts'] > 1)
    return f'{hosts} for {asked["hours"]} h'


def _described(record: Mapping[str, Any]) -> str:
    began = datetime.datetime.fromisoformat(record['free']['start'])

    def begins(asked: Mapping[str, Any]) -> str:
        starts = (datetime.datetime.fromisoformat(each['start']) for each in asked['periods'])
        return ', '.join(str(math.floor((start - began) / _HOUR)) for start in starts)

    free = ', '.join(map(str, record['free']['hosts']))
    offered = (f'{_asked(each)}: offers after {begins(each)} hours.' for each in record['offers'])
    return f'Hosts free in each hour: {free}. {" ".join(offered)}'
