# SPDX-License-Identifier: Apache-2.0

"""Publishers without a message bus: to a file, to a terminal, and to several publishers.

The message bus of the standalone service is inside the process. For other programs, the
service writes each notification to a file as one line of JSON; ``climate-watch --file``
follows the file.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import threading
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence

from climate.messaging import lines
from climate.messaging.publisher import BrokerUnavailable
from climate.messaging.publisher import envelope
from climate.messaging.publisher import OutboxMessage
from climate.messaging.publisher import Publisher


class FileJournal:
    """Appends each notification to a file, as one line of JSON.

    The file is opened for every batch, so it can be renamed at any time.

    :param path: the file; created if it is missing
    :param publisher_id: the origin of the notifications
    :param max_bytes: the size at which the file is renamed to ``<path>.1`` and a
        new one begins; 0 for no limit
    """

    def __init__(
        self, path: str | os.PathLike[str], *, publisher_id: str, max_bytes: int = 16 * 1024 * 1024
    ) -> None:
        self._path = pathlib.Path(path)
        self._publisher_id = publisher_id
        self._max_bytes = max_bytes
        self._lock = threading.Lock()

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Append *messages* in this order.

        :raises BrokerUnavailable: if the file cannot be written
        """
        text = ''.join(
            f'{json.dumps(envelope(message, self._publisher_id))}\n' for message in messages
        )
        try:
            with self._lock, self._opened() as file:
                _write(file, text.encode())
        except OSError as error:
            raise BrokerUnavailable(
                f'{self._path} cannot be written: {error.strerror or error}'
            ) from None

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        full = self._max_bytes and self._path.exists()
        if full and self._path.stat().st_size >= self._max_bytes:
            self._path.replace(f'{self._path}.1')
        # Readable by its owner only: it contains the leases of every project.
        file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield file
        finally:
            os.close(file)


def _write(file: int, data: bytes) -> None:
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b'\n':
        # A process died in the middle of a line, so begin a new one.
        data = b'\n' + data
    while data:
        data = data[os.write(file, data) :]


class Printer:
    """Prints each notification as one line.

    :param say: prints a line, which comes without a newline
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Print *messages* in this order."""
        for message in messages:
            self._say(lines.line(envelope(message, '')))


class Tee:
    """Publishes to several publishers, in turn.

    If one of them fails, those after it are not tried. The messages are then published
    again, and receivers recognize duplicates by their ids.
    """

    def __init__(self, publishers: Sequence[Publisher]) -> None:
        self._publishers = tuple(publishers)

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Publish *messages* to all.

        :raises BrokerUnavailable: if one publisher failed; no message then counts as
            published
        """
        for publisher in self._publishers:
            try:
                publisher.publish(messages)
            except BrokerUnavailable as error:
                raise BrokerUnavailable(error.message) from None
