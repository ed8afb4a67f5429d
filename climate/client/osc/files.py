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
            found = yaml.safe_load(file)
        if not isinstance(found, dict):
            raise ValueError('the fields of a lease are required')
        return _translated(found)
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
    found = dict(body)
    start = None
    for key in _TIMES:
        if key in body and body[key] != periods.NOW:
            moment = _time(body[key], start)
            # A time alone at the end is on the day of the start.
            start = start or moment
            found[key] = options.written(moment, '')
    if 'duration' in found:
        found['duration'] = int(times.duration(str(found['duration'])).total_seconds())
    items = found.get('reservations') or []
    if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
        raise ValueError('reservations: a list of mappings is required')
    found['reservations'] = [
        {
            key: requirements.as_json(value)
            if key in fields.REQUIREMENTS and isinstance(value, str) and value
            else value
            for key, value in each.items()
        }
        for each in items
    ]
    return found


def _time(value: Any, start: datetime.datetime | None) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        # YAML reads times with a zone as UTC, and others as naive ones.
        value = value.isoformat()
    return times.instant(str(value), options.now(), start)
