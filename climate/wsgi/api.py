# SPDX-License-Identifier: Apache-2.0

"""The API for a WSGI server: ``climate.wsgi.api:application``."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterable
from typing import Any
from typing import Final

from climate import exceptions
from climate.cmd import memory

with memory.uncollected():
    from climate.cmd import composition

LOG = logging.getLogger(__name__)

_UNAVAILABLE: Final = {
    'error_code': 503,
    'error_message': 'The service is not configured completely',
    'error_name': 'SERVICE_UNAVAILABLE',
}
_lock = threading.Lock()
_built: list[Any] = []


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Respond to a request.

    The first request builds the application: servers import this module before
    they fork, and connections do not survive a fork. Until an operator has done what it
    lacks, each request gets 503, and the next one tries again.
    """
    try:
        with _lock:
            if not _built:
                _built.append(composition.wsgi_application())
    except exceptions.ConfigurationError as error:
        LOG.error('The API cannot start: %s', error.message)
        start_response('503 Service Unavailable', [('Content-Type', 'application/json')])
        return [json.dumps(_UNAVAILABLE).encode()]
    answer: Iterable[bytes] = _built[0](environ, start_response)
    return answer
