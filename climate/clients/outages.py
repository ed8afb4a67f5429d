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
"""Errors of the libraries when a service cannot be reached.

A separate module, so that code that only distinguishes an outage from a refusal
loads no client of a service.
"""

from __future__ import annotations

from typing import Final

from keystoneauth1 import exceptions as ksa

# No connection, a response that is not from the service, or no response in time.
UNANSWERED: Final = (ksa.ConnectFailure, ksa.DiscoveryFailure, ksa.RequestTimeout)
