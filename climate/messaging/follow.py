# SPDX-License-Identifier: Apache-2.0

"""Follows a file of notifications while another process writes it."""

from __future__ import annotations

import io
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any


class Follower:
    """Reads notifications from a file that grows.

    It tolerates a file that does not exist yet, an incomplete last line, a file that was
    renamed or truncated, and lines that are not notifications.

    :param from_start: whether to read the existing content of the file
    """

    def __init__(self, path: str | os.PathLike[str], *, from_start: bool = False) -> None:
        self._path = pathlib.Path(path)
        self._file: io.BufferedReader | None = None
        self._partial = b''
        if self._open() and not from_start:
            self._skip_to_end()

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the notifications written since the last call; does not block."""
        if self._file is None and not self._open():
            return
        yield from self._rest()
        while self._replaced():
            # Read the end of the old file before the new one.
            yield from self._rest()
            self.close()
            if not self._open():
                return
            yield from self._rest()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
        self._file = None
        self._partial = b''

    def _open(self) -> bool:
        try:
            self._file = self._path.open('rb')
        except FileNotFoundError:
            return False
        return True

    def _skip_to_end(self) -> None:
        # To the end of the last complete line: the rest of an incomplete one would not be
        # a notification.
        assert self._file is not None
        content = self._file.read()
        self._file.seek(content.rfind(b'\n') + 1)

    def _rest(self) -> Iterator[dict[str, Any]]:
        assert self._file is not None
        *whole, self._partial = (self._partial + self._file.read()).split(b'\n')
        for text in whole:
            envelope = _envelope(text)
            if envelope is not None:
                yield envelope

    def _replaced(self) -> bool:
        assert self._file is not None
        mine = os.fstat(self._file.fileno())
        try:
            there = self._path.stat()
        except FileNotFoundError:
            # It was renamed, and the new one does not exist yet.
            return False
        moved = (mine.st_dev, mine.st_ino) != (there.st_dev, there.st_ino)
        return moved or there.st_size < self._file.tell()


def _envelope(text: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and 'event_type' in value else None
