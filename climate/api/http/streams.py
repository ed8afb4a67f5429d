# SPDX-License-Identifier: Apache-2.0

"""Streams long lists, so that they are never in memory as a whole."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any


class JsonText(str):
    """A body that is JSON already."""

    __slots__ = ()


def listed(request: Any, response: Any, key: str, parts: Iterable[str]) -> Any:
    """Return a response whose body is an object with one list, or that body.

    Reads the first two parts before the response starts, so that an early failure
    becomes an error response. A list of one part is returned as a whole.

    :param response: response to *request*; returned if the list has more than one part
    :param key: key of the list in the object
    :param parts: parts of the list, in order, as JSON
    """
    ahead = iter(parts)
    first = list(itertools.islice(ahead, 2))
    if len(first) < 2:
        return JsonText(f'{{{json.dumps(key)}: {first[0] if first else "[]"}}}')
    response.content_type = 'application/json'
    response.charset = None
    body = _written(key, itertools.chain(first, ahead))
    if request.method == 'HEAD':
        # Without a length, servers send an end mark even for HEAD, which has no body:
        # the next response on the connection would start with it.
        length = sum(map(len, body))
        response.app_iter = []
        response.content_length = length
    else:
        response.app_iter = body
    return response


def _written(key: str, parts: Iterable[str]) -> Iterator[bytes]:
    yield f'{{{json.dumps(key)}: ['.encode()
    between = ''
    for part in parts:
        if part != '[]':
            yield (between + part[1:-1]).encode()
            between = ', '
    yield b']}'
