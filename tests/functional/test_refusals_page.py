# SPDX-License-Identifier: Apache-2.0

"""The user guide quotes refusals as the service words them."""

from __future__ import annotations

import re
from typing import Any

from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from tests.architecture import ROOT
from tests.base import TestCase
from tests.functional import bodies
from tests.functional import fixtures
from tests.functional import http

PAGE = (ROOT / 'doc' / 'source' / 'user' / 'refusals.rst').read_text(encoding='utf-8')
HOSTS = http.LEASE['reservations'][0]
TERMS = re.findall(r'^``.+``$', PAGE, re.MULTILINE)
QUOTED = [text for term in TERMS for text in re.findall(r'``(.+?)``', term)]

# What leads to each quoted refusal; dates are after the service's noon of
# the first of January 2030.
BODIES: dict[str, dict[str, Any]] = {
    'Not enough hosts available': {'reservations': [{**HOSTS, 'min': 5, 'max': 5}]},
    'Not enough hosts available: none that matches is large enough': {
        'reservations': [bodies.instances(vcpus=100000, memory_mb=1, disk_gb=1, amount=1)]
    },
    'Start date must be later than current date': {'start_date': '2020-01-01 00:00'},
    'End date must be later than start date.': {'end_date': '2030-01-31 00:00'},
    'Datetime is out of lease limits': {'before_end_date': '2030-03-01 00:00'},
    "Malformed parameter min: 'one' is not a whole number": {
        'reservations': [{**HOSTS, 'min': 'one'}]
    },
    'Limit days_per_lease of the project is 366, and this would be 397': {
        'end_date': '2031-03-05 00:00'
    },
    'Missing parameter max': {'reservations': [{**HOSTS, 'max': ''}]},
    'Malformed requirements resource_properties: a key is written "$name", got \'gpu\'': {
        'reservations': [{**HOSTS, 'resource_properties': '["==", "gpu", "True"]'}]
    },
    '2030-01-01T12:00+01:00 is an invalid date. Required format: %Y-%m-%d %H:%M': {
        'start_date': '2030-01-01T12:00+01:00'
    },
}
# These need a lease that has started, a race, or another caller.
ELSEWHERE = {
    'Lease duration of 86400 seconds is longer than the longest allowed, 3600 seconds',
    'A lease can be prolonged only in the last 3600 seconds before its end',
    'The usage enforcement service of this cloud gave no answer, please try again',
    'The resources were booked by others meanwhile; please try again',
    'Cannot modify the start date of already started leases',
    'Terminated leases can only be renamed',
    'Hosts of a running lease cannot be released: the reservation has 2, more than the new'
    ' maximum of 1',
    'Hosts of a running lease cannot be exchanged by a change, and these do not meet the new'
    ' requirements: compute-1',
    'Invalid State STARTING for ...',
    "Object with {'lease_id': ...} not found",
    "Policy doesn't allow climate:hosts:create to be performed",
}
# Where a text continues with words of the request, or on another line of the code.
_FILLED_IN = re.compile(r' STARTING for| \{|climate:| of \d| last \d| \d, more|, and these')


class TestRefusalsPage(TestCase):
    """Each refusal in the guide, asked for."""

    def test_quoted_as_they_are(self) -> None:
        limits = ProjectLimits(usual=Limits(days_per_lease=366))
        service = self.useFixture(fixtures.Service(limits=limits))
        for text, change in BODIES.items():
            answer = http.send(service.app, 'POST', '/v1/leases', {**http.LEASE, **change})
            # What follows names the field in the form of the request.
            self.assertEqual(text, answer.json['error_message'][: len(text)])

    def test_all_are_known(self) -> None:
        self.assertEqual(set(BODIES) | ELSEWHERE, set(QUOTED))

    def test_those_that_need_more(self) -> None:
        code = '\n'.join(
            path.read_text(encoding='utf-8') for path in (ROOT / 'climate').rglob('*.py')
        )
        for text in ELSEWHERE:
            self.assertIn(_FILLED_IN.split(text)[0].removeprefix('Hosts').rstrip('.'), code, text)
