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

"""The API for a WSGI server: ``climate.wsgi.api:application``."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from climate.cmd import composition

_lock = threading.Lock()
_built: list[Any] = []


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Respond to a request.

    The first request builds the application: servers import this module before
    they fork, and connections do not survive a fork.
    """
    with _lock:
        if not _built:
            _built.append(composition.wsgi_application())
    answer: Iterable[bytes] = _built[0](environ, start_response)
    return answer
