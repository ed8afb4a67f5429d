# SPDX-License-Identifier: Apache-2.0

"""Stores what climate-power knows of hosts between two checks and across restarts."""

from __future__ import annotations

import dataclasses
import datetime
import json
import logging
import os
import pathlib
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate import exceptions

LOG = logging.getLogger(__name__)

_TIMES: Final = ('idle_since', 'asleep_since', 'shutdown_at', 'woken_at', 'asked_at')
MOST_BOOTS: Final = 5


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PowerRecord:
    """The stored state of a host; all instants are aware UTC.

    :ivar idle_since: since when it has been unused, as far as is known
    :ivar asleep_since: since when climate-power has kept it off
    :ivar shutdown_at: when its shutdown began; None once it is off
    :ivar woken_at: when it began to wake up; None once it is up
    :ivar asked_at: when it was last switched on during this wake
    :ivar asks: how often it was switched on during this wake
    :ivar down_seen: whether Nova has reported it as down since it was last up
    :ivar boots: its most recent boot times in seconds, the latest last
    """

    idle_since: datetime.datetime | None = None
    asleep_since: datetime.datetime | None = None
    shutdown_at: datetime.datetime | None = None
    woken_at: datetime.datetime | None = None
    asked_at: datetime.datetime | None = None
    asks: int = 0
    down_seen: bool = False
    boots: tuple[float, ...] = ()

    def awake(self) -> PowerRecord:
        """Return the record of a host that is up, which keeps only its boot times."""
        return PowerRecord(boots=self.boots)

    def measured(self, seconds: float) -> PowerRecord:
        """Return the record with one more boot time."""
        boots = (*self.boots, round(seconds, 1))[-MOST_BOOTS:]
        return dataclasses.replace(self, boots=boots)


class PowerRecords:
    """The records of all hosts, in a file.

    :param path: created by the first write
    :raises climate.exceptions.ConfigurationError: if it cannot be read
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = pathlib.Path(path)
        self._records = self._read()
        self._written = dict(self._records)

    def of(self, name: str) -> PowerRecord:
        """Return the record of a host; an empty one for a new host."""
        return self._records.get(name, PowerRecord())

    def put(self, name: str, record: PowerRecord) -> None:
        """Update the record of a host; :meth:`save` makes it persistent."""
        self._records[name] = record

    def save(self) -> None:
        """Write changes to the file; log errors."""
        known = dict(self._records)
        if known == self._written:
            return
        temporary = self._path.with_name(self._path.name + '.new')
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open('w', encoding='utf-8') as file:
                hosts = {name: dataclasses.asdict(one) for name, one in known.items()}
                json.dump({'hosts': hosts}, file, default=datetime.datetime.isoformat)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
        except OSError as error:
            LOG.error('Power records cannot be stored: %s', error)
        else:
            self._written = known

    def _read(self) -> dict[str, PowerRecord]:
        try:
            content = json.loads(self._path.read_text(encoding='utf-8'))
            return {str(name): _load(values) for name, values in content['hosts'].items()}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise exceptions.ConfigurationError(f'[power] state_path: {error}') from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise exceptions.ConfigurationError(
                f'[power] state_path: {self._path} was not written by climate-power; move it away '
                'to start without records'
            ) from error


def _load(values: Mapping[str, Any]) -> PowerRecord:
    read = dict(values)
    for name in _TIMES:
        read[name] = None if values[name] is None else datetime.datetime.fromisoformat(values[name])
    return PowerRecord(**read | {'boots': tuple(float(one) for one in values['boots'])})
