# SPDX-License-Identifier: Apache-2.0

"""Files that describe a lease, in YAML or JSON."""

from __future__ import annotations

import datetime
from typing import Any
from typing import Final

import yaml
from osc_lib import exceptions

from climate.client import fields
from climate.client import requirements
from climate.client import templates
from climate.client import times
from climate.client.osc import options
from climate.domain import periods

_FIELDS: Final = frozenset({
    'name', 'start_date', 'end_date', 'before_end_date', 'duration', 'reservations', 'events',
    'notify_before_start', 'notices',
})  # fmt: skip
_TIMES: Final = ('start_date', 'end_date', 'before_end_date')


def read(path: str) -> dict[str, Any]:
    """Return the fields of a lease in a file, as the API takes them.

    The file has the fields of the API. Times and requirements can be written as on the
    command line.

    :raises osc_lib.exceptions.CommandError: if the file cannot be read
    """
    try:
        with open(path, encoding='utf-8') as file:
            content = yaml.safe_load(file)
        if not isinstance(content, dict):
            raise ValueError('the fields of a lease are required')
        return _translated(content)
    except OSError as error:
        raise exceptions.CommandError(f'{path}: {error.strerror}') from None
    except UnicodeError:
        raise exceptions.CommandError(f'{path}: not a text in UTF-8') from None
    except yaml.YAMLError as error:
        raise exceptions.CommandError(f'{path}: {templates.line(error)}') from None
    except ValueError as error:
        raise exceptions.CommandError(f'{path}: {error}') from None


def _translated(body: dict[str, Any]) -> dict[str, Any]:
    # The resource of openstacksdk leaves out what it does not know.
    for key in body:
        if key not in _FIELDS:
            raise ValueError(f'unknown field {key}')
    translated = dict(body)
    start = None
    for key in _TIMES:
        if key in body and body[key] != periods.NOW:
            moment = _time(body[key], start)
            # A time alone at the end is on the day of the start.
            start = start or moment
            translated[key] = options.written(moment, '')
    if 'duration' in translated:
        translated['duration'] = int(times.duration(str(translated['duration'])).total_seconds())
    items = translated.get('reservations') or []
    if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
        raise ValueError('reservations: a list of mappings is required')
    translated['reservations'] = [
        {
            key: requirements.as_json(value)
            if key in fields.REQUIREMENTS and isinstance(value, str) and value
            else value
            for key, value in each.items()
        }
        for each in items
    ]
    return translated


def _time(value: Any, start: datetime.datetime | None) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        # YAML reads times with a zone as UTC, and others as naive ones.
        value = value.isoformat()
    return times.instant(str(value), options.now(), start)
