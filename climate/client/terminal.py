# SPDX-License-Identifier: Apache-2.0

"""Keeps the texts of others from controlling the terminal.

The API refuses names with control characters, but a client does not rely on that: names in
older databases, and those of other services, may have some.
"""

from __future__ import annotations

import io
import re
from typing import Any
from typing import Final

from climate.domain.names import CONTROL

# Tables and charts have line ends of their own.
_MEANINGFUL: Final = re.compile(f'(?![\n\t]){CONTROL.pattern}')


def shown(text: str) -> str:
    """Return a text with an escape such as ``\\x1b`` for each character with an effect.

    Line ends and tabs stay.
    """
    if text.isprintable():
        return text
    return _MEANINGFUL.sub(lambda one: one[0].encode('unicode_escape').decode('ascii'), text)


class EscapedStream(io.TextIOBase):
    """Writes to a stream what :func:`shown` returns."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text."""
        self._stream.write(shown(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return bool(self._stream.isatty())
