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

"""Adds to the schemas of bodies which characters their texts may have.

:func:`climate.api.bodies.read` checks this for every text of a body, apart from the schemas.
Both take it from the same place: which fields may have more than one line from
:mod:`climate.api.texts`, and the characters from :mod:`climate.domain.names`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.api.bodies import Texts
from climate.api.openapi.schemas import Json
from climate.domain.names import Characters

_ORDER: Final = {each.value.pattern: place for place, each in enumerate(Characters)}
# Schemas of the same value; those below "if" and "not" are conditions.
_ALTERNATIVES: Final = ('anyOf', 'oneOf', 'allOf')
_SAME: Final = ('then', 'else', 'items')


def limited(schema: Any, rule: Texts | Characters = Characters.ONE_LINE) -> Any:
    """Return the schema of a body whose texts have only characters that the API accepts.

    :param rule: the characters of the text, or those of fields that may have more
    """
    if not isinstance(schema, Mapping) or '$ref' in schema:
        # What is referred to limits its own texts.
        return schema
    found: Json = dict(schema)
    for word in _ALTERNATIVES:
        if word in found:
            found[word] = [limited(one, rule) for one in found[word]]
    for word in _SAME:
        if word in found:
            found[word] = limited(found[word], rule)
    if 'prefixItems' in found:
        found['prefixItems'] = [limited(one, rule) for one in found['prefixItems']]
    own = rule if isinstance(rule, Characters) else Characters.ONE_LINE
    _limit_fields(found, rule, own)
    kinds = found.get('type', ())
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if 'string' in kinds and not {'enum', 'const'} & found.keys():
        found = _without_others(found, own, alone=kinds == {'string'})
    return found


def any_value() -> Json:
    """Return the schema of any value whose text, if it is one, can be stored."""
    return _without_others({}, Characters.ANY, alone=False)


def _limit_fields(found: Json, rule: Texts | Characters, own: Characters) -> None:
    """Limit the texts of an object, and the names of its fields if clients choose them."""
    if 'properties' in found:
        found['properties'] = {
            name: limited(one, rule if isinstance(rule, Characters) else rule.get(name, own))
            for name, one in found['properties'].items()
        }
    more = found.get('additionalProperties', found.get('type') == 'object')
    if more in (True, {}):
        # Any value, also that of a field with a rule of its own.
        found['additionalProperties'] = _without_others({}, _laxest(rule), alone=False)
    elif more:
        found['additionalProperties'] = limited(more, own)
    if more is not False:
        found['propertyNames'] = _without_others(found.get('propertyNames', {}), own, alone=True)
    if '$defs' in found:
        # Shared by fields with different rules, so that they say themselves what is theirs.
        found['$defs'] = {
            name: limited(one, Characters.ANY) for name, one in found['$defs'].items()
        }


def _laxest(rule: Texts | Characters) -> Characters:
    if isinstance(rule, Characters):
        return rule
    places = [_ORDER[_laxest(one).value.pattern] for one in rule.values()]
    return list(Characters)[max(places, default=0)]


def _without_others(schema: Json, allowed: Characters, *, alone: bool) -> Json:
    """Return the schema of a text without other characters.

    :param alone: whether it is the schema of a text, and of nothing else
    """
    pattern = allowed.value.pattern
    refused = {'pattern': pattern} if alone else {'type': 'string', 'pattern': pattern}
    known = schema.get('not', refused)
    place = _ORDER.get(known.get('pattern', '')) if set(known) <= {'type', 'pattern'} else None
    if place is None:
        return {**schema, 'allOf': [*schema.get('allOf', ()), {'not': refused}]}
    return schema if place < _ORDER[pattern] else {**schema, 'not': refused}
