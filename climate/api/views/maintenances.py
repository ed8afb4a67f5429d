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

"""Maintenances as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.domain.maintenances import Maintenance


def maintenance(value: Maintenance, version: Microversion) -> dict[str, Any]:
    """Return a maintenance."""
    return {
        'id': value.id,
        'resource_id': str(value.resource_id),
        'resource_type': value.resource_type,
        'resource_name': value.resource_name,
        'start_date': dates.write(value.period.start, version),
        'end_date': dates.write(value.period.end, version),
        'reason': value.reason,
        'user_id': value.user_id,
        'created_at': dates.write(value.created_at, version),
    }
