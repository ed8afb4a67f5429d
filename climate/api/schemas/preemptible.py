# SPDX-License-Identifier: Apache-2.0

"""The fields of preemptible leases: flexible ones that yield when others need their place."""

from __future__ import annotations

from typing import Any
from typing import Final

from climate.api.http import dates
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_8
from climate.api.schemas import windows
from climate.domain.leases import YieldMode

FIELDS: Final[dict[str, Any]] = {
    'preemptible': {'type': 'boolean'},
    'yield': {'type': ['string', 'null'], 'enum': [*map(str, YieldMode), None]},
    'min_duration': {'type': ['integer', 'string', 'null']},
}


PREEMPTING: Final[dict[str, Any]] = {'preempt_own': {'type': 'boolean'}}
"""What leases may ask for that others have to yield to."""


def read(body: dict[str, Any], version: Microversion) -> dict[str, Any]:
    """Return the fields of a draft that say whether and how a new lease yields.

    :param body: which was checked against the schema of the version
    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    given = {name: body[name] for name in FIELDS if body.get(name) is not None}
    if version < V1_8 or not given:
        return {}
    if not given.get('preemptible'):
        for name in ('yield', 'min_duration'):
            if name in given:
                raise windows.malformed(name, 'it requires preemptible')
        return {}
    if body.get('start_date') is not None:
        raise windows.malformed('preemptible', 'a lease with a start_date cannot be preempted')
    mode, shortest = given.get('yield'), given.get('min_duration')
    return {
        'preemptible': True,
        'yields': None if mode is None else YieldMode(mode),
        'min_duration': (
            None if shortest is None else dates.parse_duration('min_duration', shortest)
        ),
    }
