# SPDX-License-Identifier: Apache-2.0

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
