# SPDX-License-Identifier: Apache-2.0

"""Parses and checks query parameters."""

from __future__ import annotations

import datetime
import re
import uuid
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from urllib.parse import parse_qsl
from urllib.parse import urlencode

from climate import exceptions
from climate.api.http import bodies
from climate.api.http import dates
from climate.api.http import validation
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_1
from climate.api.http.microversions import V1_5
from climate.api.http.microversions import V1_7
from climate.api.http.microversions import V1_8
from climate.domain import requests
from climate.domain.lifecycles import LeaseStatus

Parameters = Mapping[str, Sequence[str]]

_PLAIN = ('name', 'resource_type', 'project_id')
_TIMES = ('start_before', 'start_after', 'end_before', 'end_after')
FIELDS = 'fields'
SINCE = {FIELDS: V1_5, 'user': V1_7, 'user_id': V1_7, 'values': V1_7}
"""The microversions that added parameters to lists that are older."""
LEASES = frozenset(
    {
        *_PLAIN,
        *_TIMES,
        *('status', 'sort_key', 'sort_dir', 'limit', 'marker', FIELDS, 'user', 'user_id'),
    }
)
RESOURCES = frozenset({'type', 'name', 'sort_key', 'sort_dir', 'limit', 'marker'})
_MANY = frozenset({'sort_key', 'sort_dir'})
_LONGEST = 255
# Further away, dates of some engines end.
_FURTHEST = datetime.timedelta(days=36525)


def parse(query_string: str) -> Parameters:
    """Return the parameters of a query string.

    :raises climate.exceptions.InvalidInput: if it is not valid UTF-8 or contains
        characters that a database cannot store
    """
    try:
        pairs = parse_qsl(query_string, keep_blank_values=True, errors='strict', max_num_fields=100)
    except UnicodeDecodeError:
        raise exceptions.InvalidInput('The query string is not valid UTF-8') from None
    except ValueError:
        raise exceptions.InvalidInput('The query string has too many parameters') from None
    parameters: dict[str, list[str]] = {}
    for key, value in pairs:
        reason = bodies.unfit_text(key) or bodies.unfit_text(value)
        if reason:
            raise _malformed(key, reason)
        parameters.setdefault(key, []).append(value)
    return parameters


def refuse_unknown(
    parameters: Parameters,
    known: Collection[str],
    version: Microversion,
    many: Collection[str] = (),
) -> None:
    """Refuse unknown and repeated parameters, from microversion 1.1 on.

    :raises climate.exceptions.InvalidInput: naming the parameter
    """
    if version < V1_1:
        return
    for key, values in parameters.items():
        if key not in known or version < SINCE.get(key, version):
            raise exceptions.InvalidInput(f'Unknown query parameter {bodies.printable(key)}')
        if len(values) > 1 and key not in many:
            raise _malformed(key, 'it may be given once only')


def one(parameters: Parameters, key: str) -> str | None:
    """Return the last value of *key*; None if it is missing or empty."""
    values = parameters.get(key)
    return (values[-1] or None) if values else None


def required(parameters: Parameters, key: str) -> str:
    """Return the last value of *key*.

    :raises climate.exceptions.MissingParameter: if it is missing or empty
    """
    value = one(parameters, key)
    if value is None:
        raise exceptions.MissingParameter(param=key)
    return value


def short(parameters: Parameters, key: str) -> str | None:
    """Return the last value of *key*; None if it is missing or empty.

    :raises climate.exceptions.MalformedParameter: if no name is so long
    """
    text = one(parameters, key)
    if text is not None and len(text) > _LONGEST:
        raise _malformed(key, f'at most {_LONGEST} characters are allowed')
    return text


def flag(parameters: Parameters, key: str) -> bool:
    """Return *key* as a boolean; False if it is missing.

    :raises climate.exceptions.MalformedParameter: if it is not a boolean
    """
    return validation.boolean(key, parameters.get(key, ('',))[-1])


def leases(
    parameters: Parameters,
    version: Microversion,
    *,
    project_id: str | None,
    caller_id: str,
    now: datetime.datetime,
    max_limit: int,
) -> requests.LeaseQuery:
    """Return the query for leases; at 1.0 it has no filters.

    :param project_id: the only project to search; None for all projects
    :param caller_id: the id of the user who asks
    :raises climate.exceptions.InvalidInput: naming the parameter and why
    """
    if version < V1_1:
        return requests.LeaseQuery(project_id=project_id)
    refuse_unknown(parameters, LEASES, version, _MANY)
    for key in (*_PLAIN, 'user_id'):
        short(parameters, key)
    times = {}
    for key in _TIMES:
        value = one(parameters, key)
        times[key] = (
            None if value is None else dates.parse(key, with_plus_sign(value), now, version)
        )
    return requests.LeaseQuery(
        project_id=project_id,
        status=_status(one(parameters, 'status'), version),
        with_waiting=version < V1_8,
        name=one(parameters, 'name'),
        user_id=_user(parameters, caller_id),
        resource_type=one(parameters, 'resource_type'),
        sort=_sort(parameters, requests.SORT_KEYS),
        limit=_limit(one(parameters, 'limit'), max_limit),
        marker=_marker(one(parameters, 'marker')),
        **times,
    )


def _user(parameters: Parameters, caller_id: str) -> str | None:
    """Return the user whose leases are wanted; None for those of all users."""
    user, user_id = one(parameters, 'user'), one(parameters, 'user_id')
    if user is None:
        return user_id
    if user != 'me':
        raise _malformed('user', 'me is required; user_id is for other users')
    if user_id is not None:
        raise _malformed('user', 'it cannot be combined with user_id')
    return caller_id


def resources(
    parameters: Parameters, version: Microversion, *, project_id: str | None, max_limit: int
) -> requests.ResourceQuery:
    """Return the query for resources.

    :param project_id: of the caller; None if the caller can see all projects
    :raises climate.exceptions.InvalidInput: naming the parameter and why
    """
    refuse_unknown(parameters, RESOURCES, version, _MANY)
    resource_type, name = short(parameters, 'type'), short(parameters, 'name')
    marker = one(parameters, 'marker')
    if marker is not None and re.fullmatch('[0-9]{1,9}', marker, re.ASCII) is None:
        raise _malformed('marker', 'the id of a resource is required')
    return requests.ResourceQuery(
        project_id=project_id,
        resource_type=resource_type,
        name=name,
        sort=_sort(parameters, requests.RESOURCE_SORT_KEYS),
        limit=_limit(one(parameters, 'limit'), max_limit),
        marker=None if marker is None else int(marker),
    )


def paging(parameters: Parameters, max_limit: int) -> tuple[str | None, int]:
    """Return the marker and the limit of a page whose marker is a UUID.

    :raises climate.exceptions.MalformedParameter: naming the parameter and why
    """
    marker = _marker(one(parameters, 'marker'))
    return marker, _limit(one(parameters, 'limit'), max_limit)


def fields(
    parameters: Parameters, version: Microversion, known: Collection[str]
) -> Collection[str] | None:
    """Return the fields of each object that the client wants; None for all.

    :param known: the fields that there are
    :raises climate.exceptions.MalformedParameter: naming an unknown one
    """
    text = one(parameters, FIELDS) if version >= V1_5 else None
    if text is None:
        return None
    wanted = {name.strip() for name in text.split(',')} - {''}
    if not wanted or not wanted <= set(known):
        raise _malformed(FIELDS, 'some of ' + ', '.join(known) + ' are required')
    return wanted


def instant(
    key: str, parameters: Parameters, version: Microversion, now: datetime.datetime
) -> datetime.datetime | None:
    """Return the instant of a parameter; None if it is not given.

    :param now: the instant that ``now`` means (aware UTC)
    :raises climate.exceptions.InvalidInput: naming the parameter and why
    """
    text = one(parameters, key)
    if text is None:
        return None
    found = dates.parse(key, with_plus_sign(text), now, version)
    if abs(found - now) > _FURTHEST:
        raise exceptions.MalformedParameter.of(key, 'at most a hundred years from now are allowed')
    return found


def with_plus_sign(value: str) -> str:
    """Return a time whose zone begins with a plus: unescaped, it is read as a space."""
    head, space, zone = value.rpartition(' ')
    return f'{head}+{zone}' if space and 'T' in head else value


def _status(value: str | None, version: Microversion) -> str | None:
    if value is None:
        return None
    known = [one for one in LeaseStatus if version >= V1_8 or one is not LeaseStatus.WAITING]
    if value.upper() not in known:
        raise _malformed('status', 'one of ' + ', '.join(known) + ' is required')
    return value.upper()


def _sort(parameters: Parameters, known: Sequence[str]) -> tuple[tuple[str, str], ...]:
    keys = [key for key in parameters.get('sort_key', ()) if key]
    directions = [word.lower() for word in parameters.get('sort_dir', ()) if word]
    for key in keys:
        if key not in known:
            raise _malformed('sort_key', 'one of ' + ', '.join(known) + ' is required')
    if len(set(keys)) < len(keys):
        raise _malformed('sort_key', 'a key may be given once only')
    for word in directions:
        if word not in {'asc', 'desc'}:
            raise _malformed('sort_dir', 'asc or desc is required')
    if len(directions) > max(len(keys), 1):
        raise _malformed('sort_dir', 'there are more directions than keys')
    if directions and not keys:
        keys = ['created_at']
    directions += ['asc'] * (len(keys) - len(directions))
    return tuple(zip(keys, directions, strict=True))


def _limit(value: str | None, max_limit: int) -> int:
    if value is None:
        return max_limit
    if not value.isascii() or not value.isdigit() or len(value) > 18 or int(value) < 1:
        raise _malformed('limit', 'an integer above 0 is required')
    return min(int(value), max_limit)


def _marker(value: str | None) -> str | None:
    if value is None:
        return None
    try:
        return str(uuid.UUID(value))
    except ValueError:
        raise _malformed('marker', 'the id of a lease is required') from None


def _malformed(key: str, reason: str) -> exceptions.MalformedParameter:
    return exceptions.MalformedParameter.of(bodies.printable(key), reason)


def next_page(path: str, parameters: Parameters, marker: str) -> str:
    """Return the URL of the page after the one that ends with *marker*."""
    pairs = [(k, v) for k, values in parameters.items() if k != 'marker' for v in values]
    return f'{path}?{urlencode([*pairs, ("marker", marker)])}'
