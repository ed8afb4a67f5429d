# SPDX-License-Identifier: Apache-2.0

"""The processes of a cloud, with their ports and memory."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator

from tools.cloud import processes
from tools.cloud import services
from tools.cloud.state import Cloud

_MIB = 1024.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
    """A service, with the memory of all its processes in MiB."""

    name: str
    pids: tuple[int, ...]
    port: int | None
    rss: float
    pss: float


def rows(cloud: Cloud) -> list[Row]:
    """Return a row for each process that the cloud should have, running or not."""
    return [_row(cloud, name) for name in services.names(cloud)]


def _row(cloud: Cloud, name: str) -> Row:
    found = processes.find(cloud, name)
    members = processes.in_session(found.pid) if found else []
    memory = [_memory(each.pid) for each in members]
    return Row(
        name=name,
        pids=tuple(each.pid for each in members),
        port=cloud.ports.get(name),
        rss=sum(rss for rss, _ in memory),
        pss=sum(pss for _, pss in memory),
    )


def _memory(pid: int) -> tuple[float, float]:
    """Return RSS and PSS of a process: with shared memory in full, and with its share."""
    try:
        text = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text(encoding='utf-8')
    except OSError:
        return 0.0, 0.0
    sizes = dict(re.findall(r'^(Rss|Pss):\s+(\d+) kB$', text, re.MULTILINE))
    return float(sizes.get('Rss', 0)) / _MIB, float(sizes.get('Pss', 0)) / _MIB


def table(found: list[Row]) -> Iterator[str]:
    """Yield the lines of a table of *found*."""
    yield f'{"service":<20} {"pid":>8} {"port":>6} {"processes":>9} {"RSS MiB":>8} {"PSS MiB":>8}'
    for row in found:
        pid = str(row.pids[0]) if row.pids else 'down'
        numbers = f'{len(row.pids):>9} {row.rss:>8.0f} {row.pss:>8.0f}'
        yield f'{row.name:<20} {pid:>8} {row.port or "-":>6} {numbers}'
    processes_count = sum(len(row.pids) for row in found)
    rss, pss = sum(row.rss for row in found), sum(row.pss for row in found)
    yield f'{"total":<20} {"":>8} {"":>6} {processes_count:>9} {rss:>8.0f} {pss:>8.0f}'
