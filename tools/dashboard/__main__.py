# SPDX-License-Identifier: Apache-2.0

"""Draws the dashboard with data of a service at work.

``python -m tools.dashboard`` runs ``climate-standalone`` for two minutes, has users book,
fail and delete leases, sends their events to webhooks, scrapes its metrics every second,
evaluates the queries of ``etc/climate/grafana-dashboard.json``, and writes
``doc/source/_static/dashboard.png``. Neither Grafana nor Prometheus take part. Requires
matplotlib.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.clock import SystemClock
from climate.simulator import SimulatedCloud
from tools.dashboard.queries import Evaluation
from tools.dashboard.queries import Scrape
from tools.dashboard.queries import scrape
from tools.dashboard.receivers import receiver

ROOT: Final = pathlib.Path(__file__).resolve().parents[2]
DASHBOARD: Final = ROOT / 'etc' / 'climate' / 'grafana-dashboard.json'
PICTURE: Final = ROOT / 'doc' / 'source' / '_static' / 'dashboard.png'
# Of rates, in scrapes.
_WINDOW: Final = 15
_HOSTS: Final = 40
_SIZE: Final = {'vcpus': 4, 'memory_mb': 4096, 'disk_gb': 20}
_API_PORT: Final = 21234
_METRICS_PORT: Final = 21791
_OPTIONS: Final = f"""
[metrics]
enabled = true
api_port = {_METRICS_PORT}
cache_seconds = 1
[manager]
retry_first_pause = 0.5
retry_longest_pause = 2
[webhooks]
allowed_networks = 127.0.0.0/8
allow_http = true
attempts = 3
retry_first_pause = 1
[limits]
leases = 0
"""


def panels() -> list[dict[str, Any]]:
    """Return the panels with queries, in their order."""
    found = json.loads(DASHBOARD.read_text(encoding='utf-8'))['panels']
    return [panel for panel in found if panel.get('targets')]


def legend(pattern: str, labels: Any) -> str:
    """Return the name of a series, as the legend of a panel has it."""
    known = dict(labels)
    return re.sub(r'{{(\w+)}}', lambda match: known.get(match[1], ''), pattern)


@contextlib.contextmanager
def service(folder: pathlib.Path) -> Iterator[SimulatedCloud]:
    """Run a service, and yield its cloud."""
    options = folder / 'climate.conf'
    options.write_text(_OPTIONS, encoding='utf-8')
    command = pathlib.Path(sys.executable).with_name('climate-standalone')
    arguments = ['--port', str(_API_PORT), '--state-dir', str(folder / 'state')]
    arguments += ['--hosts', str(_HOSTS), '--config-file', str(options)]
    with (folder / 'log').open('w') as log:
        process = subprocess.Popen([str(command), *arguments], stdout=log, stderr=log)
    try:
        while not _text(f'http://127.0.0.1:{_METRICS_PORT}/metrics'):
            if process.poll() is not None:
                raise SystemExit((folder / 'log').read_text())
            time.sleep(0.2)
        cloud = SimulatedCloud(folder / 'state' / 'cloud', clock=SystemClock())
        yield cloud
        cloud.close()
    finally:
        process.terminate()
        process.wait(30)


def _text(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return str(answer.read().decode())
    except OSError:
        return ''


def use(stopping: threading.Event) -> None:
    """Book leases until all is over, as several users would."""
    rng = random.Random(7)
    ids: list[str] = []
    while not stopping.wait(rng.uniform(0.1, 0.5)):
        end = SystemClock().now() + datetime.timedelta(seconds=rng.uniform(10, 50))
        hosts = rng.choice((1, 1, 2, 3, 30))
        wanted = rng.choice(
            (
                {'resource_type': 'physical:host', 'min': hosts, 'max': hosts},
                {'resource_type': 'virtual:instance', 'amount': 2} | _SIZE,
            )
        )
        body = {
            'name': 'load',
            'start_date': 'now',
            'end_date': end.strftime('%Y-%m-%dT%H:%M:%SZ'),
            'reservations': [wanted],
        }
        made = _ask('POST', '/leases', body)
        ids += [made['lease']['id']] if made else []
        if ids and rng.random() < 0.2:
            _ask('DELETE', f'/leases/{ids.pop(0)}')
        _ask('GET', '/leases')


def _ask(method: str, path: str, body: Any = None) -> Any:
    request = urllib.request.Request(
        f'http://127.0.0.1:{_API_PORT}/v1{path}',
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={'Content-Type': 'application/json', 'OpenStack-API-Version': 'reservation 1.5'},
    )
    with contextlib.suppress(urllib.error.HTTPError, OSError):
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
            return json.loads(text) if text else None
    return None


def observe(seconds: int) -> list[Scrape]:
    """Return a scrape for each second of a service at work, whose cloud fails for a while."""
    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        service(pathlib.Path(folder)) as cloud,
        receiver() as address,
    ):
        for name in ('chat', 'refusing'):
            _ask('POST', '/webhooks', {'name': name, 'url': f'{address}/{name}'})
        stopping = threading.Event()
        user = threading.Thread(target=use, args=(stopping,))
        user.start()
        try:
            for second in range(seconds):
                if second == seconds // 2:
                    cloud.fail('compute.add_host', times=30)
                found.append(scrape(_text(f'http://127.0.0.1:{_METRICS_PORT}/metrics')))
                time.sleep(1.0)
        finally:
            stopping.set()
            user.join()
    return found


def draw(scrapes: Sequence[Scrape]) -> None:
    """Draw all panels over time."""
    matplotlib: Any = importlib.import_module('matplotlib')
    matplotlib.use('Agg')
    pyplot: Any = importlib.import_module('matplotlib.pyplot')
    found = panels()
    columns = 3
    lines = -(-len(found) // columns)
    figure, axes = pyplot.subplots(lines, columns, figsize=(15, 2.6 * lines))
    for place, each in zip(axes.flat, found, strict=False):
        _draw_panel(place, each, scrapes)
    for place in axes.flat[len(found) :]:
        place.axis('off')
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=80)


def _draw_figures(place: Any, panel: Any, scrapes: Sequence[Scrape]) -> None:
    """Write the latest value of each series, as a panel of figures shows it."""
    place.set_title(panel['title'], fontsize=10, loc='left')
    place.set_xticks([])
    place.set_yticks([])
    shown = sorted(
        (legend(target['legendFormat'], labels), value)
        for target in panel['targets']
        for labels, value in Evaluation(target['expr'], scrapes[-2:], 1).result().items()
    )
    defaults = panel['fieldConfig']['defaults']
    shown = shown or [('', float(defaults['noValue']))]
    figure = '{:.0%}' if defaults['unit'] == 'percentunit' else '{:g}'
    for row, (name, value) in enumerate(shown):
        height, text = 1 - (row + 0.5) / len(shown), figure.format(value)
        if len(shown) == 1:
            place.text(0.5, height, text, ha='center', va='center', fontsize=26)
        else:
            place.text(0.5, height, f'{name}  {text}', ha='center', va='center', fontsize=9)


def _draw_panel(place: Any, panel: Any, scrapes: Sequence[Scrape]) -> None:
    if panel['type'] == 'stat':
        _draw_figures(place, panel, scrapes)
        return
    place.set_title(panel['title'], fontsize=10, loc='left')
    place.tick_params(labelsize=7)
    place.grid(alpha=0.3)
    drawn = 0
    for target in panel['targets']:
        lines: dict[str, list[tuple[int, float]]] = {}
        for second in range(1, len(scrapes)):
            window = scrapes[max(second - _WINDOW, 0) : second + 1]
            vector = Evaluation(target['expr'], window, len(window) - 1).result()
            for labels, value in vector.items():
                name = legend(target.get('legendFormat', ''), labels)
                lines.setdefault(name, []).append((second, value))
        for name, points in sorted(lines.items()):
            place.plot(*zip(*points, strict=True), label=name, linewidth=1)
            drawn += 1
    if drawn:
        place.legend(fontsize=6, loc='upper left')
    else:
        place.text(0.5, 0.5, 'no data', ha='center', transform=place.transAxes)


def main() -> None:
    """Run a service, and draw its dashboard."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument('--seconds', type=int, default=120)
    draw(observe(arguments.parse_args().seconds))


if __name__ == '__main__':
    main()
