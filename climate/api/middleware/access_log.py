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

"""A line in the log for each request."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from oslo_context import context as oslo_context
from oslo_log import log as logging
from oslo_middleware import request_id

from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp

LOG = logging.getLogger(__name__)

_LONGEST_PATH = 500


class AccessLog:
    """Logs the client's address, method, path, status and time.

    Never headers, queries or bodies. What has a meaning for terminals is
    escaped by :mod:`climate.cmd.logs`, as in every line.
    """

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on, and log what came of it."""
        begun = time.monotonic()
        status: list[str] = []

        def started(line: str, *rest: Any) -> Any:
            status.append(line.partition(' ')[0])
            return start_response(line, *rest)

        # What the thread logs until it is known who calls belongs to this
        # request, not to the one before it.
        oslo_context.RequestContext(request_id=environ.get(request_id.ENV_REQUEST_ID))
        answer = self._app(environ, started)
        LOG.info(
            '%s %s %s %s %.3f s',
            environ.get('REMOTE_ADDR') or '-',
            environ.get('REQUEST_METHOD'),
            _path(environ),
            status[-1] if status else '-',
            time.monotonic() - begun,
        )
        return answer


def _path(environ: Environ) -> str:
    """Return the path as people read it; WSGI hands over its bytes as characters."""
    raw = str(environ.get('PATH_INFO') or '').encode('latin-1', 'replace')
    path = raw.decode('utf-8', 'backslashreplace')
    return path if len(path) <= _LONGEST_PATH else path[: _LONGEST_PATH - 3] + '...'
