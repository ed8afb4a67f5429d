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

"""Query parameters of the extension of a lease."""

from __future__ import annotations

import datetime
from typing import Final

from climate import exceptions
from climate.api import dates
from climate.api import queries
from climate.api.microversions import Microversion
from climate.api.schemas.availability import LONGEST

PARAMETERS: Final = frozenset({'latest'})


def latest(
    parameters: queries.Parameters, now: datetime.datetime, version: Microversion
) -> datetime.datetime | None:
    """Return the last end of interest; None if the caller sets none.

    :param now: the instant that ``now`` means (aware UTC)
    :raises climate.exceptions.InvalidInput: if it is no time, or too late
    """
    text = queries.one(parameters, 'latest')
    if text is None:
        return None
    found = dates.parse('latest', queries.plus(text), now, version)
    if found - now > LONGEST:
        raise exceptions.MalformedParameter(
            f'Malformed parameter latest: at most {LONGEST.days} days ahead are allowed'
        )
    return found
