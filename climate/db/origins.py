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

"""The JSON of the request that work for a lease goes back to."""

from __future__ import annotations

from collections.abc import Mapping

from climate.domain.origins import RequestOrigin


def dump(origin: RequestOrigin | None) -> dict[str, str] | None:
    """Return an origin as JSON stores it; None for one without ids."""
    if origin is None:
        return None
    found = {
        'request_id': origin.request_id,
        'global_request_id': origin.global_request_id,
        'traceparent': origin.traceparent,
    }
    return {name: value for name, value in found.items() if value is not None} or None


def load(stored: Mapping[str, str] | None) -> RequestOrigin | None:
    """Return an origin that this release or a later one has stored."""
    if not stored:
        return None
    return RequestOrigin(
        request_id=stored.get('request_id'),
        global_request_id=stored.get('global_request_id'),
        traceparent=stored.get('traceparent'),
    )
