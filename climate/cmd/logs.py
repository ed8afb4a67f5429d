# SPDX-License-Identifier: Apache-2.0

"""Prepares log lines: escaped, without mere repetitions, and with ids as fields.

Lines are escaped so that input of callers cannot forge lines or control a terminal.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import threading
import traceback
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any
from typing import Final

from oslo_context import context as oslo_context

from climate import context

# Lines that are remembered; the ones that were not seen for longest are forgotten.
_MOST_REMEMBERED: Final = 2000
# A line that was not repeated for so long is news again, in seconds.
_SILENCE: Final = 3600.0


class RepeatFilter(logging.Filter):
    """Passes a repeated warning the 1st, 2nd, 4th, 8th… time.

    Managers retry what fails for as long as it fails, every few seconds. The first line
    says all that is known; the others only hide different ones. A line that is passed
    again says how often it was repeated. Lines below the level of warnings are decisions,
    and always pass.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is to be logged; the same answer for each handler."""
        if record.levelno < logging.WARNING:
            return True
        times: int = record.__dict__.get('repeats') or self._count(record)
        record.__dict__['repeats'] = times
        return times & (times - 1) == 0

    def _count(self, record: logging.LogRecord) -> int:
        """Return how often a line was logged, with this time."""
        key = (record.name, record.getMessage())
        with self._lock:
            times, last = self._seen.pop(key, (0, record.created))
            if record.created - last > _SILENCE:
                times = 0
            self._seen[key] = (times + 1, record.created)
            if len(self._seen) > _MOST_REMEMBERED:
                self._seen.popitem(last=False)
        return times + 1


# Characters that end a line for some reader, move the cursor of a terminal, change the
# direction of writing, are invisible, or cannot be written at all, such as half of a
# surrogate pair.
_MEANINGFUL = (
    '\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f'
    '\ud800-\udfff\ufeff\U000e0000-\U000e007f'
)
_LONGEST_CHAIN = 10
_OF_REQUEST: Final = ('request_id', 'global_request_id')
# Messages begin with the object and its id, see the style guide.
_NAMED: Final = re.compile(
    r'\b(?P<noun>[Ll]ease|[Rr]eservation) (?P<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b'
)
_IN_LINES = re.compile(f'[{_MEANINGFUL}]')
_IN_MESSAGES = re.compile(f'[\n{_MEANINGFUL}]')


def _escaped(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda found: found[0].encode('unicode_escape').decode('ascii'), text)


def one_line(text: str) -> str:
    """Return a text with line ends and control characters escaped."""
    return _escaped(_IN_MESSAGES, text)


def reopen() -> None:
    """Open log files again, which may have been moved."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.FileHandler):
            with handler.lock or contextlib.nullcontext():
                # The next record opens the file.
                stream, handler.stream = handler.stream, None
                if stream is not None:
                    stream.close()


class Record(logging.LogRecord):
    """A record whose message is one line, whatever the formatter."""

    repeats: int

    def getMessage(self) -> str:
        """Return the message, with its arguments, and how often it was repeated."""
        text = _escaped(_IN_MESSAGES, super().getMessage())
        times = getattr(self, 'repeats', 1)
        return text if times == 1 else f'{text} ({times} times)'


class Escaping(logging.Formatter):
    """Escapes control characters in the output of another formatter.

    Line ends stay, except in the text of an exception: tracebacks have them, and
    oslo.log begins each line of a traceback like a record.

    :param inner: the other formatter
    """

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> Any:
        """Return the formatted record; formatters for some log services return an object."""
        annotate(record)
        formatted: Any = self._inner.format(record)
        if not isinstance(formatted, str):
            return formatted
        formatted = _said_once(record, formatted)
        for text in _texts(record):
            formatted = formatted.replace(text, _escaped(_IN_MESSAGES, text))
        return _escaped(_IN_LINES, formatted)


def _said_once(record: logging.LogRecord, line: str) -> str:
    """Return a line without the exception being handled, if the message has its text.

    oslo.log adds the class and the text of that exception to each warning.
    """
    error = None if record.exc_info else sys.exc_info()[1]
    if error is None:
        return line
    with contextlib.suppress(Exception):
        text = str(error)
        summary = traceback.format_exception_only(error)[0].rstrip().split('\n', 1)[0]
        if getattr(record, 'complete', False) or (text and text in record.getMessage()):
            return line.removesuffix(f': {summary}')
    return line


def _texts(record: logging.LogRecord) -> Iterable[str]:
    """Yield the texts with several lines of the exceptions of a record."""
    # oslo.log adds the exception being handled even to records without one.
    error = (record.exc_info or sys.exc_info())[1]
    for _ in range(_LONGEST_CHAIN):
        if error is None:
            return
        with contextlib.suppress(Exception):
            text = str(error).rstrip('\n')
            if '\n' in text:
                yield text
        error = error.__cause__ or error.__context__


def annotate(record: logging.LogRecord) -> None:
    """Add the ids of the lease, reservation, event and request that a record is about.

    JSON has them as fields of ``extra``. A manager works for no request of its own, so its
    lines get the ids of the request that the work goes back to.
    """
    fields = _fields(record)
    if not fields:
        return
    record.extra = {**getattr(record, 'extra', {}), **fields}
    if 'request_id' in fields and oslo_context.get_current() is None:
        # A RequestContext would become that of the thread, and outlive its work.
        record.context = {name: fields[name] for name in _OF_REQUEST if name in fields}


def _fields(record: logging.LogRecord) -> dict[str, str]:
    fields: dict[str, str | None] = {}
    # A line is about the first one that it names; it may name another that this one waits for.
    for match in _NAMED.finditer(record.getMessage()):
        fields.setdefault(f'{match["noun"].lower()}_id', match['id'])
    current = oslo_context.get_current()
    if current is not None:
        fields |= {'request_id': current.request_id, 'global_request_id': current.global_request_id}
    work = context.work()
    # Some lines are about another lease than the one that the thread works on.
    if work is not None and fields.get('lease_id', work.lease_id) == work.lease_id:
        origin = work.known_origin
        fields = {
            'lease_id': work.lease_id or None,
            'reservation_id': work.reservation_id,
            'event_id': work.event_id,
            'event': work.event,
            'request_id': origin.request_id,
            'global_request_id': origin.global_request_id,
        } | fields
    if work is None and not fields.keys() & {'lease_id', 'reservation_id'}:
        return {}
    return {name: value for name, value in fields.items() if value is not None}


def prepare() -> None:
    """Have existing handlers escape, annotate and thin out what they log from now on."""
    logging.setLogRecordFactory(Record)
    repeats = RepeatFilter()
    for handler in _handlers():
        if not any(isinstance(item, RepeatFilter) for item in handler.filters):
            handler.addFilter(repeats)
        if not isinstance(handler.formatter, Escaping):
            handler.setFormatter(Escaping(handler.formatter or logging.Formatter()))


def _handlers() -> Iterable[logging.Handler]:
    root = logging.getLogger()
    yield from root.handlers
    for logger in list(root.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger):
            yield from logger.handlers
