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

"""Extensions of leases, as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.views import offers
from climate.domain.offers import Extension


def extension(value: Extension, version: Microversion) -> dict[str, Any]:
    """Return how far a lease can be extended."""
    return {
        'end_date': dates.write(value.end, version),
        'blocked_by': [offers.shortage(one, version) for one in value.blocked_by],
        'offers': [offers.offer(one, version) for one in value.offers],
        'searched_until': dates.write(value.searched_until, version),
    }
