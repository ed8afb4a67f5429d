# SPDX-License-Identifier: Apache-2.0

"""Request bodies, parsed as JSON objects that every database can store."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from collections.abc import MutableMapping
from types import MappingProxyType
from typing import Any
from typing import Final

from climate import exceptions
from climate.domain import names
from climate.domain.names import Characters

LOG = logging.getLogger(__name__)

# Key of the WSGI environment under which SizeLimit keeps the body.
ENVIRON_KEY: Final = 'climate.body'

_CHUNK: Final = 65536

MOST_LEVELS: Final = 32
_MOST: Final = 2**63 - 1

# Path of a value: the path of its container, and its key or index in it.
_Path = tuple[Any, str | int]


class UnreadBody:
    """A body that the server may not have received yet.

    :param stream: the ``wsgi.input`` of the request
    :param length: how many bytes the client announces; None to read up to the end
    :param limit: how many bytes it may have
    """

    def __init__(self, stream: Any, length: int | None, limit: int) -> None:
        self._stream = stream
        self._length = length
        self._limit = limit

    def read(self, most: int | None = None) -> bytes:
        """Return the body; blocks until the client has sent it.

        :param most: a lower limit
        :raises climate.exceptions.RequestTooLarge: if it has more bytes than the limit
        :raises climate.exceptions.InvalidInput: if it does not arrive as announced
        """
        limit = self._limit if most is None else min(most, self._limit)
        if (self._length or 0) > limit:
            raise too_large(limit)
        wanted = limit + 1 if self._length is None else self._length
        parts = []
        while wanted > 0 and (part := self._part(min(wanted, _CHUNK))):
            parts.append(part)
            wanted -= len(part)
        body = b''.join(parts)
        if len(body) > limit:
            raise too_large(limit)
        if self._length is not None and wanted > 0:
            raise exceptions.InvalidInput('The body is shorter than its Content-Length')
        return body

    def _part(self, size: int) -> bytes:
        # What a server raises here comes from the client: a malformed chunk, a closed
        # connection, a time-out. Each server has classes of its own for that.
        try:
            part: bytes = self._stream.read(size)
        except Exception as error:
            LOG.info('A body cannot be read: %s: %s', type(error).__name__, error)
            raise exceptions.InvalidInput('The body cannot be read') from error
        return part


def too_large(limit: int) -> exceptions.RequestTooLarge:
    """Return the error for a body of more than *limit* bytes."""
    return exceptions.RequestTooLarge(
        f'Request is too large. Bodies of at most {limit} bytes are read.'
    )


def raw(environ: MutableMapping[str, Any], most: int | None = None) -> bytes:
    """Return the bytes of the body of a request, which is read at the first call.

    :param most: a limit for this request
    :raises climate.exceptions.RequestTooLarge: if it has more bytes than the limit
    :raises climate.exceptions.InvalidInput: if it does not arrive as announced
    """
    body: bytes | UnreadBody = environ.get(ENVIRON_KEY, b'')
    if isinstance(body, UnreadBody):
        body = environ[ENVIRON_KEY] = body.read(most)
    return body


Texts = Mapping[str, 'Texts | Characters']
"""The characters of texts, by field; a field of an object has those of its own fields."""


def read(environ: MutableMapping[str, Any], texts: Texts = MappingProxyType({})) -> dict[str, Any]:
    """Return the body of a request.

    :param texts: the fields whose texts may have more than one line
    :raises climate.exceptions.UnsupportedMediaType: if it is not JSON
    :raises climate.exceptions.InvalidInput: if it is not a JSON object, or contains values that
        a database cannot store, or characters that a terminal or a page would not show as
        they are
    """
    _check_content_type(environ.get('CONTENT_TYPE') or '')
    body = _parse(raw(environ))
    if not isinstance(body, dict):
        raise exceptions.InvalidInput('The body must be a JSON object')
    _check_values(body, texts)
    return body


def name(field: str, text: str) -> str:
    """Return *text* if it fits on one line, at every microversion.

    :raises climate.exceptions.MalformedParameter: if it has control characters
    """
    if reason := names.misfit(text):
        raise _malformed(field, reason)
    return text


def _check_content_type(content_type: str) -> None:
    # Some clients send JSON without a content type.
    kind = content_type.partition(';')[0].strip().lower()
    if kind and kind != 'application/json' and not kind.endswith('+json'):
        raise exceptions.UnsupportedMediaType(content_type=kind)


def _parse(raw: bytes) -> Any:
    if not raw.strip():
        raise exceptions.InvalidInput('The body is empty; a JSON object is required')
    try:
        text = raw.decode('utf-8')
    except UnicodeDecodeError as error:
        raise exceptions.InvalidInput(
            f'The body is not valid UTF-8: byte {error.start} is wrong'
        ) from None
    try:
        return json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise exceptions.InvalidInput(f'The body is not valid JSON: {error}') from None
    except ValueError:
        raise exceptions.InvalidInput(
            'The body is not valid JSON: it has a number that is too large'
        ) from None
    except RecursionError:
        raise exceptions.InvalidInput('The body is nested too deeply') from None


def _no_constant(word: str) -> Any:
    raise exceptions.InvalidInput(f'The body is not valid JSON: {word} is not a JSON value')


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _check_values(body: dict[str, Any], texts: Texts) -> None:
    """Refuse field names and values that cannot be stored, or shown as they are."""
    # A list instead of recursion, since the caller chooses the depth.
    pending: list[tuple[_Path | None, int, Any, Texts | Characters]] = [(None, 0, body, texts)]
    while pending:
        path, level, value, rule = pending.pop()
        own = rule if isinstance(rule, Characters) else Characters.ONE_LINE
        if level > MOST_LEVELS:
            raise exceptions.InvalidInput(
                f'The body is nested too deeply at {printable(_written(path))}'
            )
        if isinstance(value, dict):
            for key, inner in value.items():
                if reason := unfit_text(key, own):
                    raise _malformed(f'the name of {_written((path, key))!r}', reason)
                below = rule if isinstance(rule, Characters) else rule.get(key, own)
                pending.append(((path, key), level + 1, inner, below))
        elif isinstance(value, list):
            pending.extend(((path, i), level + 1, inner, rule) for i, inner in enumerate(value))
        elif isinstance(value, str):
            if reason := unfit_text(value, own):
                raise _malformed(_written(path), reason)
        elif isinstance(value, int | float) and abs(value) > _MOST:
            raise _malformed(_written(path), 'the number is too large')


def _written(path: _Path | None) -> str:
    """Return a path as text such as ``a[0].b``; called only for invalid values."""
    parts: list[str] = []
    while path is not None:
        path, part = path
        parts.append(f'[{part}]' if isinstance(part, int) else f'.{part}')
    return ''.join(reversed(parts)).removeprefix('.')


def _malformed(field: str, reason: str) -> exceptions.MalformedParameter:
    return exceptions.MalformedParameter.of(printable(field), reason)


def unfit_text(text: str, allowed: Characters = Characters.ONE_LINE) -> str | None:
    """Return why *text* cannot be stored, or not be shown as it is; None if it can."""
    if text.isascii() and text.isprintable():
        return None
    if '\0' in text:
        return 'the character NUL is not allowed'
    if not text.isascii():
        try:
            text.encode('utf-8')
        except UnicodeEncodeError:
            return 'half of a surrogate pair is not a character'
    return names.misfit(text, allowed)


def printable(field: str) -> str:
    """Return *field* shortened and escaped for responses and logs."""
    text = names.escaped(field.encode('utf-8', 'backslashreplace').decode())
    return text if len(text) <= 200 else text[:197] + '...'
