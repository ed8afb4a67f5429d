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

"""Calendar feeds as JSON."""

from __future__ import annotations

from typing import Any

from climate.api import dates
from climate.api.microversions import Microversion
from climate.api.microversions import V1_6
from climate.domain.feeds import Feed


def feed(value: Feed, version: Microversion, url: str | None = None) -> dict[str, Any]:
    """Return a feed.

    :param url: the link, which only the response to its creation has
    """
    shown = {
        'id': value.id,
        'name': value.name,
        'project_id': value.project_id,
        'user_id': value.user_id,
        'kind': value.kind,
        'lease_id': value.lease_id,
        'resource_id': None if value.resource_id is None else str(value.resource_id),
        'time_zone': value.time_zone,
        'alarms_before_start': list(value.before_start),
        'alarms_before_end': list(value.before_end),
        'created_at': dates.write(value.created_at, version),
        'expires_at': dates.write(value.expires_at, version),
    }
    if version >= V1_6:
        shown['stopped_reason'] = value.stopped_reason
    return shown if url is None else {**shown, 'url': url}
