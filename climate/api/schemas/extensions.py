# SPDX-License-Identifier: Apache-2.0

"""Query parameters of the extension of a lease."""

from __future__ import annotations

import datetime
from typing import Final

from climate import exceptions
from climate.api.http import dates
from climate.api.http import queries
from climate.api.http.microversions import Microversion
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
    instant = dates.parse('latest', queries.with_plus_sign(text), now, version)
    if instant - now > LONGEST:
        raise exceptions.MalformedParameter.of(
            'latest', f'at most {LONGEST.days} days ahead are allowed'
        )
    return instant
