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

"""Microversions: what each one brought, and which one a request speaks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from typing import NamedTuple

import microversion_parse

from climate import exceptions

SERVICE_TYPE = 'reservation'
HEADER = 'OpenStack-API-Version'

# Oldest first; rest_api_version_history.rst says each line at length, and a
# test holds the two together.
HISTORY = (
    ('1.0', 'What the clients of the service type reservation speak.'),
    (
        '1.1',
        'ISO 8601 times in and out, duration, notify_before_start, filters, sorting and pages of '
        'leases, reasons of a refusal; unknown fields and query parameters are refused.',
    ),
    (
        '1.2',
        'Resources of every type, types that operators declare, maintenances, other resources '
        'for a lease.',
    ),
    (
        '1.3',
        'Servers, volumes, stacks and storage of their own; which reservation is a part of '
        'another; the history of a lease, what owners are written to about, and what is '
        'ready.',
    ),
)

_FORM = re.compile(r'([1-9]\d{0,9})\.([1-9]\d{0,9}|0)', re.ASCII)


class Microversion(NamedTuple):
    """``major.minor``; compared as a pair of numbers."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f'{self.major}.{self.minor}'


def _parse(text: str) -> Microversion:
    match = _FORM.fullmatch(text)
    if match is None:
        raise exceptions.InvalidInput(
            f'API Version String {text} is of invalid format. Must be of format MajorNum.MinorNum.'
        )
    return Microversion(int(match[1]), int(match[2]))


MIN = _parse(HISTORY[0][0])
MAX = _parse(HISTORY[-1][0])
V1_0 = Microversion(1, 0)
V1_1 = Microversion(1, 1)
V1_2 = Microversion(1, 2)
V1_3 = Microversion(1, 3)


def requested(environ: Mapping[str, Any]) -> Microversion:
    """Return the microversion a request asks for; the oldest if none.

    :raises climate.exceptions.InvalidInput: if it cannot be read
    :raises climate.exceptions.NotAcceptable: if it is not served
    """
    text = microversion_parse.get_version(
        {HEADER.lower(): environ.get('HTTP_OPENSTACK_API_VERSION', '')}, SERVICE_TYPE
    )
    if not text:
        return MIN
    if text.lower() == 'latest':
        return MAX
    version = _parse(text)
    if not MIN <= version <= MAX:
        raise exceptions.NotAcceptable(version=version, minimum=MIN, maximum=MAX)
    return version
