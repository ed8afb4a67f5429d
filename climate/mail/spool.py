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

"""Keeps what is to be sent until it was sent, in files.

``pending`` holds what is to be sent, ``done`` what was sent lately, so that
nothing is sent twice, and ``failed`` what was given up, for the operator. A
notice is one file, which is renamed into its place when it is whole, and moved
from one directory to the next.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import fcntl
import hashlib
import json
import logging
import os
import pathlib
import threading
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate import exceptions
from climate.mail.notices import Notice

LOG = logging.getLogger(__name__)

PENDING: Final = 'pending'
DONE: Final = 'done'
FAILED: Final = 'failed'
_PLACES: Final = (PENDING, DONE, FAILED)
_LOCK: Final = 'lock'
KEPT: Final = datetime.timedelta(days=7)
"""How long it is remembered that a notice was sent."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A notice and what has become of it so far.

    :ivar received_at: when it was heard (aware UTC)
    :ivar next_try: not before this is it tried again (aware UTC)
    :ivar attempts: how often it could not be sent
    :ivar error: why, the last time
    """

    notice: Notice
    received_at: datetime.datetime
    next_try: datetime.datetime
    attempts: int = 0
    error: str = ''

    def dump(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            'notice': self.notice.dump(),
            'received_at': self.received_at.isoformat(),
            'next_try': self.next_try.isoformat(),
            'attempts': self.attempts,
            'error': self.error,
        }

    @classmethod
    def load(cls, values: Mapping[str, Any]) -> Entry:
        """Return what :meth:`dump` wrote.

        :raises KeyError: if something is missing; TypeError and ValueError likewise
        """
        return cls(
            notice=Notice.load(values['notice']),
            received_at=datetime.datetime.fromisoformat(values['received_at']),
            next_try=datetime.datetime.fromisoformat(values['next_try']),
            attempts=int(values['attempts']),
            error=str(values['error']),
        )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """That a mail was sent: when, to whom, and which."""

    at: datetime.datetime
    recipient: str
    message_id: str


class Spool:
    """The notices of one ``climate-mail``.

    :param folder: made if it is not there
    :raises climate.exceptions.ConfigurationError: if it cannot be used, or
        somebody else uses it
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = pathlib.Path(folder)
        try:
            for place in _PLACES:
                # Nobody else is to read whose lease it is.
                (self._folder / place).mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = (self._folder / _LOCK).open('w')
        except OSError as error:
            raise exceptions.ConfigurationError(f'[mail] spool_dir: {error}') from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._lock.close()
            raise exceptions.ConfigurationError(
                f'[mail] spool_dir: {self._folder} is in use by another climate-mail'
            ) from error

        self._changing = threading.Lock()
        self._pending = {_name(entry.notice): entry for entry in self._read()}

    def close(self) -> None:
        """Let another process use it."""
        self._lock.close()

    def add(self, notice: Notice, now: datetime.datetime) -> bool:
        """Keep a notice; return whether it is new.

        :raises OSError: if it cannot be written
        """
        name = _name(notice)
        if any((self._folder / place / name).exists() for place in _PLACES):
            return False
        self.put(Entry(notice=notice, received_at=now, next_try=now))
        return True

    def put(self, entry: Entry) -> None:
        """Write down what has become of a notice that is still to be sent.

        :raises OSError: if it cannot be written
        """
        name = _name(entry.notice)
        self._write(PENDING, name, entry.dump())
        with self._changing:
            self._pending[name] = entry

    def pending(self) -> list[Entry]:
        """Return what is to be sent, the oldest first."""
        with self._changing:
            found = list(self._pending.values())
        return sorted(found, key=lambda entry: (entry.received_at, entry.notice.id))

    def done(self, notice: Notice, sent: Sent) -> None:
        """Note that a notice was sent.

        :raises OSError: if that cannot be written
        """
        values = {'at': sent.at.isoformat(), 'to': sent.recipient, 'id': sent.message_id}
        name = _name(notice)
        self._write(DONE, name, values)
        # So that what is old can be told without opening all of them.
        seconds = sent.at.timestamp()
        os.utime(self._folder / DONE / name, (seconds, seconds))
        self._drop(name)

    def give_up(self, entry: Entry) -> None:
        """Put a notice aside that cannot be sent; it stays for the operator.

        :raises OSError: if that cannot be written
        """
        name = _name(entry.notice)
        self._write(FAILED, name, entry.dump())
        self._drop(name)

    def sent_since(self, instant: datetime.datetime) -> list[Sent]:
        """Return what was sent after *instant*, in no order."""
        found = []
        for path in self._sent(lambda seconds: seconds > instant.timestamp()):
            with contextlib.suppress(KeyError, TypeError, ValueError):
                values = json.loads(path.read_text(encoding='utf-8'))
                at = datetime.datetime.fromisoformat(values['at'])
                found.append(Sent(at=at, recipient=values['to'], message_id=values['id']))
        return found

    def forget(self, now: datetime.datetime) -> None:
        """Forget what was sent long ago."""
        oldest = (now - KEPT).timestamp()
        for path in self._sent(lambda seconds: seconds < oldest):
            path.unlink(missing_ok=True)

    def _sent(self, wanted: Callable[[float], bool]) -> list[pathlib.Path]:
        with os.scandir(self._folder / DONE) as found:
            return [
                pathlib.Path(item.path)
                for item in found
                if item.name.endswith('.json') and wanted(item.stat().st_mtime)
            ]

    def _read(self) -> Iterator[Entry]:
        """Yield what is to be sent; put aside what cannot be read, and tell."""
        for path in sorted((self._folder / PENDING).glob('*.json')):
            try:
                yield Entry.load(json.loads(path.read_text(encoding='utf-8')))
            except (KeyError, TypeError, ValueError) as error:
                LOG.error('%s is no notice and is put aside: %r', path, error)
                path.replace(self._folder / FAILED / path.name)

    def _drop(self, name: str) -> None:
        with self._changing:
            self._pending.pop(name, None)
        (self._folder / PENDING / name).unlink(missing_ok=True)

    def _write(self, place: str, name: str, values: Mapping[str, Any]) -> None:
        folder = self._folder / place
        half = folder / f'{name}.new'
        with half.open('w', encoding='utf-8') as file:
            os.fchmod(file.fileno(), 0o600)
            json.dump(values, file)
            file.flush()
            os.fsync(file.fileno())
        half.replace(folder / name)
        # The name has to be on the disk as well.
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _name(notice: Notice) -> str:
    return hashlib.sha256(notice.key.encode('utf-8', 'surrogatepass')).hexdigest()[:40] + '.json'
