# SPDX-License-Identifier: Apache-2.0

"""Logs why the database is unavailable: what its driver says, once a minute for each cause.

Whatever fails because of the database is tried again every second or for every request.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
import re
import threading
import time
import urllib.parse
from collections.abc import Callable
from collections.abc import Iterator
from typing import Final

from climate.db.engine import error_codes
from climate.exceptions.outages import Cause

LOG = logging.getLogger(__name__)

SECONDS: Final = 60.0
_LONGEST: Final = 500
_HIDDEN: Final = '***'
_STATEMENT: Final = re.compile(r'^LINE \d+: ', re.MULTILINE)
# The caller prints the reason itself.
_printed: contextvars.ContextVar[bool] = contextvars.ContextVar('printed', default=False)


class ErrorLog:
    """Logs a cause at most once a minute.

    :param ticks: returns the seconds since a fixed instant
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._lock = threading.Lock()
        self._last: dict[Cause, float] = {}

    def note(self, cause: Cause, reason: str) -> None:
        """Log why the database has failed, unless that was logged within the last minute."""
        if _printed.get() or not self._is_due(cause):
            return
        # Not dropped as a repetition: an outage that lasts must be visible in any hour of a log.
        # Complete: the text of the exception of the library may contain the password.
        extra = {'repeats': 1, 'complete': True}
        LOG.warning('The database %s: %s', cause.value, reason, extra=extra)

    def _is_due(self, cause: Cause) -> bool:
        now = self._ticks()
        with self._lock:
            last = self._last.get(cause)
            if last is not None and now - last < SECONDS:
                return False
            self._last[cause] = now
        return True


_SHARED: Final = ErrorLog()


def note(cause: Cause, reason: str) -> None:
    """Log why the database has failed, unless this process has done so within a minute."""
    _SHARED.note(cause, reason)


@contextlib.contextmanager
def printed() -> Iterator[None]:
    """Log nothing, because the caller prints the reason."""
    token = _printed.set(True)
    try:
        yield
    finally:
        _printed.reset(token)


def sentence(error: BaseException, hidden: str | None = None) -> str:
    """Return what a driver says, in one line that contains no values and no password.

    :param hidden: the password
    """
    text = _text(error)
    for secret in {hidden, urllib.parse.quote_plus(hidden or '')} - {None, ''}:
        # Not within a word: the password of an example is part of the name of a table.
        text = re.sub(rf'(?<!\w){re.escape(str(secret))}(?!\w)', _HIDDEN, text)
    return text[:_LONGEST]


def _text(error: BaseException) -> str:
    code = error_codes.code(error)
    if isinstance(code, int):
        return f'{error.args[1] if len(error.args) > 1 else type(error).__name__} ({code})'
    primary = getattr(getattr(error, 'diag', None), 'message_primary', None)
    # Then comes the statement, with values.
    text = _STATEMENT.split(str(primary or error))[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if code is not None:
        return f'{lines[0] if lines else type(error).__name__} ({code})'
    return '; '.join(lines) or type(error).__name__
