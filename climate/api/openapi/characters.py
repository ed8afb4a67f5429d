# SPDX-License-Identifier: Apache-2.0

"""Adds to the schemas of bodies which characters their texts may have.

:func:`climate.api.http.bodies.read` checks this for every text of a body, apart from the schemas.
Both take it from the same place: which fields may have more than one line from
:mod:`climate.api.http.texts`, and the characters from :mod:`climate.domain.names`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.api.http.bodies import Texts
from climate.api.http.json_schema import Json
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
    narrowed: Json = dict(schema)
    for word in _ALTERNATIVES:
        if word in narrowed:
            narrowed[word] = [limited(one, rule) for one in narrowed[word]]
    for word in _SAME:
        if word in narrowed:
            narrowed[word] = limited(narrowed[word], rule)
    if 'prefixItems' in narrowed:
        narrowed['prefixItems'] = [limited(one, rule) for one in narrowed['prefixItems']]
    own = rule if isinstance(rule, Characters) else Characters.ONE_LINE
    _limit_fields(narrowed, rule, own)
    kinds = narrowed.get('type', ())
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if 'string' in kinds and not {'enum', 'const'} & narrowed.keys():
        narrowed = _without_others(narrowed, own, alone=kinds == {'string'})
    return narrowed


def any_value() -> Json:
    """Return the schema of any value whose text, if it is one, can be stored."""
    return _without_others({}, Characters.ANY, alone=False)


def _limit_fields(schema: Json, rule: Texts | Characters, own: Characters) -> None:
    """Limit the texts of an object, and the names of its fields if clients choose them."""
    if 'properties' in schema:
        schema['properties'] = {
            name: limited(one, rule if isinstance(rule, Characters) else rule.get(name, own))
            for name, one in schema['properties'].items()
        }
    more = schema.get('additionalProperties', schema.get('type') == 'object')
    if more in (True, {}):
        # Any value, also that of a field with a rule of its own.
        schema['additionalProperties'] = _without_others({}, _laxest(rule), alone=False)
    elif more:
        schema['additionalProperties'] = limited(more, own)
    if more is not False:
        schema['propertyNames'] = _without_others(schema.get('propertyNames', {}), own, alone=True)
    if '$defs' in schema:
        # Shared by fields with different rules, so that they say themselves what is theirs.
        schema['$defs'] = {
            name: limited(one, Characters.ANY) for name, one in schema['$defs'].items()
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
