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

"""The request that work for a lease goes back to."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RequestOrigin:
    """The ids of the request that made or last changed a lease.

    They are stored with the lease, so that the lines, calls and spans of a manager lead
    back to the request. None of them is a secret.

    :ivar request_id: the id that the API gave the request
    :ivar global_request_id: the id that the client sent along, such as that of Heat
    :ivar traceparent: the span of the request, as W3C Trace Context has it
    """

    request_id: str | None = None
    global_request_id: str | None = None
    traceparent: str | None = None

    @property
    def global_id(self) -> str | None:
        """The id to send to other services with requests for the same purpose."""
        return self.global_request_id or self.request_id
