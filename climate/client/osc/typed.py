# SPDX-License-Identifier: Apache-2.0

"""Reservations of any type, whose fields the service describes with a JSON schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from collections.abc import Mapping
from typing import Any

from osc_lib import exceptions

from climate.client.reservations import Reservation
from climate.client.reservations import WrittenReservation
from climate.client.sdk.proxy import ReservationProxy


def typed(proxy: ReservationProxy, wanted: Iterable[Reservation]) -> list[Reservation]:
    """Return reservations whose fields have the types that their resource types require.

    :raises osc_lib.exceptions.CommandError: if a type lacks a field, or a value has no place
    """
    return [
        _typed(proxy, each) if isinstance(each, WrittenReservation) else each for each in wanted
    ]


def _typed(proxy: ReservationProxy, wanted: Reservation) -> Reservation:
    kind = str(wanted['resource_type'])
    schema = proxy.get_resource_type(kind).reservation_schema or {}
    known: Mapping[str, Any] = schema.get('properties') or {}
    fields = {key: text for key, text in wanted.items() if key not in ('resource_type', 'amount')}
    for key in fields:
        if key not in known:
            there = ', '.join(sorted(known)) or 'none'
            raise exceptions.CommandError(f'{kind} has no field {key}; it has {there}')
    read = {key: value(known[key], text) for key, text in fields.items()}
    return {'resource_type': kind, **_amount(kind, known, wanted['amount']), **read}


def _amount(kind: str, known: Mapping[str, Any], text: str) -> Reservation:
    """Return the fields of an amount such as ``2`` or ``2-4``; '' stands for one."""
    least, _, most = (text or '1').partition('-')
    if 'amount' in known and not most:
        return {'amount': int(least)}
    if {'min', 'max'} <= known.keys():
        return {'min': int(least), 'max': int(most or least)}
    if text:
        raise exceptions.CommandError(f'{kind} has no amount such as {text}')
    return {}


def value(schema: Mapping[str, Any], text: str) -> Any:
    """Return the value of a field.

    :param schema: of the field; several types can be possible
    :param text: as the user wrote it; JSON for lists, mappings and null
    """
    kinds = _kinds(schema)
    if 'integer' in kinds and re.fullmatch(r'-?\d{1,18}', text):
        return int(text)
    if 'boolean' in kinds and text.lower() in ('true', 'false'):
        return text.lower() == 'true'
    if not kinds:
        return text
    if 'string' in kinds and not ({'array', 'object'} & kinds and text[:1] in ('[', '{')):
        return text
    try:
        return json.loads(text)
    except ValueError:
        # The service says what is wrong with it.
        return text


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """Return the types that a schema allows."""
    stated = schema.get('type', [])
    kinds = {stated} if isinstance(stated, str) else set(stated)
    for each in (*schema.get('anyOf', ()), *schema.get('oneOf', ())):
        kinds |= _kinds(each)
    return kinds
