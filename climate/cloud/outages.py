# SPDX-License-Identifier: Apache-2.0
"""Errors of the libraries when a service cannot be reached.

A separate module, so that code that only distinguishes an outage from a refusal
loads no client of a service.
"""

from __future__ import annotations

from typing import Final

from keystoneauth1 import exceptions as ksa

# No connection, a response that is not from the service, or no response in time.
UNANSWERED: Final = (ksa.ConnectFailure, ksa.DiscoveryFailure, ksa.RequestTimeout)
