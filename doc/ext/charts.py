# SPDX-License-Identifier: Apache-2.0

"""Pictures of what was recorded: hosts over time, and figures of benchmarks.

The records are the JSON files in ``doc/data``; ``tools/record_hosts.py`` and
``benchmarks.core --json`` write them.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import pathlib
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from doc.ext.sheet import LETTER
from doc.ext.sheet import Sheet

DATA = pathlib.Path(__file__).resolve().parents[1] / 'data'
ENGINES = {'SQLite': 'second', 'MariaDB': 'first', 'PostgreSQL': 'third'}
_HOUR = datetime.timedelta(hours=1)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Picture:
    """What is shown, and the same in words.

    :ivar title: one line
    :ivar description: for readers who do not see it
    """

    sheet: Sheet
    title: str
    description: str


def read(name: str) -> Any:
    """Return a record of ``doc/data``."""
    return json.loads((DATA / name).read_text(encoding='utf-8'))


# -- hosts over time

_LABEL = 88
_ROW = 32


def hosts(record: Mapping[str, Any] | None = None) -> Picture:
    """Draw who has which host when.

    :param record: as ``tools/record_hosts.py`` prints it
    """
    record = record or read('hosts.json')
    names = record['hosts']
    now = datetime.datetime.fromisoformat(record['now'])
    bars = [*record['allocations'], *record['maintenances']]
    last = max(datetime.datetime.fromisoformat(bar['end']) for bar in bars)
    hours = 6 * math.ceil((last - now) / _HOUR / 6)
    sheet = Sheet(height=58 + _ROW * len(names) + 34)
    scale = (sheet.width - _LABEL - 16) / hours
    bottom = 50 + _ROW * len(names)

    def place(text: str) -> float:
        return _LABEL + (datetime.datetime.fromisoformat(text) - now) / _HOUR * scale

    sheet.text(12, 24, f'{len(names)} hosts, the next {hours} hours', 'head')
    for hour in range(0, hours + 1, 6):
        x = _LABEL + hour * scale
        sheet.line(x, 44, x, bottom)
        sheet.text(x, 40, f'+{hour} h' if hour else 'now', 'small', 'middle')
    for number, name in enumerate(names):
        sheet.text(12, 50 + _ROW * number + 20, name)
    for bar in bars:
        x, y = place(bar['start']), 54 + _ROW * names.index(bar['host'])
        width = place(bar['end']) - x - 1.5
        kind = {'ACTIVE': 'first', 'PENDING': 'second'}.get(bar.get('status', ''), 'out')
        label = bar.get('lease', 'maintenance')
        sheet.bar(x, y, width, _ROW - 8, kind, label)
        if len(label) * LETTER + 8 < width:
            sheet.text(x + 6, y + 16, label, 'dark' if kind == 'second' else 'inside')
    sheet.line(_LABEL, 44, _LABEL, bottom, 'dash')
    legend(sheet, 12, bottom + 24, (('active', 'first'), ('booked', 'second'),
                                     ('maintenance', 'out')))  # fmt: skip
    return Picture(sheet=sheet, title='Hosts over time, with leases', description=_told(record))


def _told(record: Mapping[str, Any]) -> str:
    booked: dict[str, list[str]] = {}
    for each in record['allocations']:
        booked.setdefault(each['host'], []).append(f'{each["lease"]} ({each["status"]})')
    sentences = [f'{host} has {", then ".join(leases)}.' for host, leases in booked.items()]
    sentences += [f'{each["host"]} is in maintenance once.' for each in record['maintenances']]
    return ' '.join(sentences)


def legend(sheet: Sheet, x: float, y: float, entries: Iterable[tuple[str, str]]) -> None:
    """Explain the colours, each with its class."""
    for name, kind in entries:
        sheet.bar(x, y - 9, 12, 10, kind)
        sheet.text(x + 17, y, name, 'small')
        x += 34 + len(name) * LETTER


# -- lateness of starts


def lateness(figures: Sequence[Mapping[str, Any]] | None = None) -> Picture:
    """Draw how late leases start, as a histogram for each engine."""
    figures = figures or read('lateness.json')['figures']
    found = [figure for figure in figures if figure['samples']]
    what = found[0]['what'].partition(':')[0]
    top = max(sorted(figure['samples'])[-1 - len(figure['samples']) // 50] for figure in found)
    step = next(each for each in (2, 5, 10, 20, 50, 100, 200, 500, 1000) if top / each <= 30)
    bins = math.ceil(top / step)
    sheet = Sheet(height=44 + 88 * len(found) + 30, width=520)
    sheet.text(12, 24, f'How late a lease starts ({what})', 'head')
    for number, figure in enumerate(found):
        _histogram(sheet, 44 + 88 * number, figure, step, bins)
    bottom = 44 + 88 * len(found)
    scale = (sheet.width - 32) / bins
    for mark in range(0, bins + 1, max(1, bins // 6)):
        sheet.text(16 + mark * scale, bottom + 14, f'{mark * step} ms', 'small', 'middle')
    words = [
        f'{figure["engine"]}: half of the starts within {_share(figure, 0.5):.0f} ms,'
        f' 99 of 100 within {_share(figure, 0.99):.0f} ms.'
        for figure in found
    ]
    return Picture(sheet=sheet, title='How late leases start', description=' '.join(words))


def _share(figure: Mapping[str, Any], share: float) -> float:
    ordered = sorted(figure['samples'])
    return float(ordered[max(0, math.ceil(share * len(ordered)) - 1)])


def _histogram(sheet: Sheet, y: float, figure: Mapping[str, Any], step: float, bins: int) -> None:
    counts = [0] * bins
    for sample in figure['samples']:
        counts[min(bins - 1, int(max(sample, 0) // step))] += 1
    scale = (sheet.width - 32) / bins
    base, most = y + 80, max(counts)
    sheet.line(16, base, sheet.width - 16, base)
    for number, count in enumerate(counts):
        height = 56 * count / most
        if count:
            # The last bar has all that are later, too.
            until = f'{(number + 1) * step} ms' if number < bins - 1 else 'the latest'
            tip = f'{number * step} ms to {until}: {count}'
            x = 16 + number * scale
            kind = ENGINES[figure['engine']]
            sheet.bar(x + 0.5, base - height, scale - 1, height, kind, tip)
    half, most_all = _share(figure, 0.5), _share(figure, 0.99)
    words = f'{figure["engine"]}: median {half:.0f} ms, 99 of 100 within {most_all:.0f} ms'
    sheet.text(sheet.width - 16, y + 16, words, anchor='end')


# -- figures of benchmarks


def bars(title: str, beginning: str, record: Mapping[str, Any] | None = None) -> Picture:
    """Draw the figures whose name has a certain beginning: a row each, a bar per engine."""
    figures = (record or read('benchmarks.json'))['figures']
    found = [figure for figure in figures if figure['what'].startswith(beginning)]
    rows = list(dict.fromkeys(figure['what'] for figure in found))
    engines = [name for name in ENGINES if any(figure['engine'] == name for figure in found)]
    thick = 12
    row = 24 + thick * len(engines)
    sheet = Sheet(height=48 + row * len(rows) + 28, width=480)
    sheet.text(12, 24, title, 'head')
    most = max(max(figure['value'], figure['aim'] or 0) for figure in found)
    scale = (sheet.width - 100) / most
    for number, what in enumerate(rows):
        y = 44 + row * number
        sheet.text(12, y + 12, what.removeprefix(beginning).strip(' ,:'))
        for figure in (each for each in found if each['what'] == what):
            place = y + 17 + thick * engines.index(figure['engine'])
            length = figure['value'] * scale
            aim = (figure['aim'] or 0) * scale
            words = f'{figure["value"]:.3g} {figure["unit"]}'
            sheet.bar(12, place, length, thick - 2, ENGINES[figure['engine']])
            # The line of the aim must not cross the words.
            end = aim if length - 6 < aim < length + 12 + len(words) * LETTER else length
            sheet.text(18 + max(length, end), place + 9, words, 'small')
            if aim:
                sheet.line(12 + aim, y + 15, 12 + aim, y + 17 + thick * len(engines), 'dash')
    entries = [(name, ENGINES[name]) for name in engines]
    aimed = [('aim', 'late')] if any(figure['aim'] for figure in found) else []
    legend(sheet, 12, 48 + row * len(rows) + 14, (*entries, *aimed))
    words = [f'{f["engine"]}, {f["what"]}: {f["value"]:.3g} {f["unit"]}.' for f in found]
    return Picture(sheet=sheet, title=title, description=' '.join(words))
