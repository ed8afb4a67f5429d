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

"""Answers with long lists a part at a time, so that they never are in memory whole."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any


def listed(request: Any, response: Any, key: str, parts: Iterable[list[dict[str, Any]]]) -> Any:
    """Return the answer that is an object of one list.

    The first two parts are there before the answer begins, so that whatever
    fails at first is told as an error. A list of one part is answered as usual.

    :param response: of *request*; returned if the list is longer
    :param key: of the list in the object
    :param parts: of the list, in order
    """
    ahead = iter(parts)
    first = list(itertools.islice(ahead, 2))
    if len(first) < 2:
        return {key: first[0] if first else []}
    response.content_type = 'application/json'
    response.charset = None
    body = _written(key, itertools.chain(first, ahead))
    if request.method == 'HEAD':
        # Of what has no length, servers mark the end, be it an answer to HEAD, which has
        # no body: the next answer on the connection would begin with that mark.
        length = sum(map(len, body))
        response.app_iter = []
        response.content_length = length
    else:
        response.app_iter = body
    return response


def _written(key: str, parts: Iterable[list[dict[str, Any]]]) -> Iterator[bytes]:
    yield f'{{{json.dumps(key)}: ['.encode()
    between = ''
    for part in parts:
        if part:
            yield (between + json.dumps(part)[1:-1]).encode()
            between = ', '
    yield b']}'
