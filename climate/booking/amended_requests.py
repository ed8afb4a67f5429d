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

"""Adds what an offer requires to the reservations that were requested."""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final

from climate.domain.offers import PropertyValues

_KEY: Final = 'resource_properties'


def amended(
    bodies: Sequence[Mapping[str, Any]], required: Sequence[PropertyValues]
) -> tuple[Mapping[str, Any], ...]:
    """Return the bodies of reservations with further requirements.

    :param bodies: as received
    :param required: the values, one of which a reservation is to require
    """
    found = [dict(body) for body in bodies]
    for one in required:
        body = found[one.place]
        body[_KEY] = _both(body.get(_KEY), _any_of(one))
    return tuple(found)


def _any_of(required: PropertyValues) -> list[Any]:
    found = [['==', f'${required.name}', value] for value in required.values]
    return found[0] if len(found) == 1 else ['or', *found]


def _both(stated: Any, further: list[Any]) -> str:
    """Return both requirements as JSON text; *stated* may be JSON text, a list, or nothing."""
    expression = json.loads(stated) if isinstance(stated, str) and stated.strip() else stated
    return json.dumps(['and', expression, further] if expression else further)
