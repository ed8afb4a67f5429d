# SPDX-License-Identifier: Apache-2.0

"""The examples of the API reference are answers that the service gave.

Each request of a small story is sent to the whole service, and its answer
compared with the file that the reference shows; bodies of requests are read
from the files that the reference shows. ``make api-samples`` writes the answers
anew. Ids are replaced by others that stay the same from run to run; the clock
of the service goes on by a second from request to request, so that its times do too.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import uuid
from typing import Any

import webob

from tests.architecture import ROOT
from tests.base import TestCase
from tests.functional import fixtures
from tests.functional.api_steps import Step
from tests.functional.api_story import STORY

SAMPLES = ROOT / 'api-ref' / 'source' / 'samples'
WRITE = 'CLIMATE_WRITE_API_SAMPLES'

_UUID = re.compile(r'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
_SECRET = re.compile(r'whsec_[A-Za-z0-9+/]{43}=')
_LINK = re.compile(r'/feeds/[A-Za-z0-9_-]{43}\.ics')
_SHOWN = uuid.UUID('2d0a4d5c-7a57-4d69-8f56-0c3d2f7f1f43')


class Teller:
    """Sends the requests, one after the other, and knows ids by both names."""

    def __init__(self, service: fixtures.Service) -> None:
        self._service = service
        # The one thing of the cloud that a request names.
        self._shown = {service.public_network: str(uuid.uuid5(_SHOWN, 'network'))}
        self._leases: list[str] = []
        self._maintenance = ''
        self._offer = ''
        self._others: dict[str, str] = {'webhook': '', 'feed': ''}

    def send(self, step: Step) -> webob.Response:
        """Return the answer to a request."""
        names = dict(zip(('first', 'second', 'third', 'fourth'), self._leases, strict=False))
        names |= {'maintenance': self._maintenance, 'offer': self._offer, **self._others}
        request = webob.Request.blank(
            step.path.format(**names), method=step.method, base_url='http://controller:1234'
        )
        request.headers['X-Auth-Token'] = step.token
        request.headers['OpenStack-API-Version'] = f'reservation {step.version}'
        if step.sends:
            text = (SAMPLES / f'{step.name}-request.json').read_text(encoding='utf-8')
            request.body = self._real(text).encode()
            request.content_type = 'application/json'
        answer = request.get_response(self._service.app)
        if answer.status_int == 201 and 'lease' in answer.json:
            self._leases.append(answer.json['lease']['id'])
        if step.method == 'POST' and 'maintenance' in (answer.json or {}):
            self._maintenance = answer.json['maintenance']['id']
        if step.path == '/v1/offers':
            self._offer = answer.json['offers'][0]['id']
        for noun in self._others:
            if answer.status_int == 201 and noun in answer.json:
                self._others[noun] = answer.json[noun]['id']
        return answer

    def shown(self, text: str) -> str:
        """Return *text* with the ids of the reference."""

        def replace(match: re.Match[str]) -> str:
            number = str(len(self._shown) - 1)
            return self._shown.setdefault(match[0], str(uuid.uuid5(_SHOWN, number)))

        # Secrets differ from run to run.
        text = _SECRET.sub('whsec_C2FuK3JlbGllZHJvYmluLi4uLi4uLi4uLi4uLi4uLi4=', text)
        text = _LINK.sub('/feeds/VGhpcyBsaW5rIGlzIG9ubHkgYW4gZXhhbXBsZS4uLi4.ics', text)
        return _UUID.sub(replace, text)

    def _real(self, text: str) -> str:
        for real, shown in self._shown.items():
            text = text.replace(shown, real)
        return text


class TestApiSamples(TestCase):
    """The story, run once."""

    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        self.service = self.useFixture(fixtures.Service(hosts=3))
        self.teller = Teller(self.service)

    def test_reference_shows_real_answers(self) -> None:
        made = set()
        for step in STORY:
            # Nothing happens at the same instant, so that order is certain.
            self.service.clock.advance(1)
            if step.worked:
                self.service.work()
            answer = self.teller.send(step)
            self.assertEqual(step.status, answer.status_int, f'{step.name}: {answer.text}')
            if step.sends:
                made.add(f'{step.name}-request.json')
            if answer.status_int == 204:
                self.assertEqual('', answer.text)
                continue
            made.add(f'{step.name}-response.json')
            # The dictionaries keep the order in which the service wrote them.
            shown = json.dumps(json.loads(self.teller.shown(answer.text)), indent=2) + '\n'
            self.check(SAMPLES / f'{step.name}-response.json', shown)
        self.assertEqual(made, {str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob('*.json')})

    def check(self, path: pathlib.Path, shown: str) -> None:
        """Compare an answer with the file; write the file if that is wanted."""
        if os.environ.get(WRITE):
            path.write_text(shown, encoding='utf-8')
        tracked = path.read_text(encoding='utf-8') if path.exists() else ''
        self.assertEqual(tracked, shown, f'{path} is behind: run "make api-samples"')

    def test_every_sample_is_shown(self) -> None:
        pages: Any = (path.read_text(encoding='utf-8') for path in SAMPLES.parent.glob('*.rst'))
        used = set(re.findall(r'^\.\. literalinclude:: samples/(\S+)$', '\n'.join(pages), re.M))
        self.assertEqual({str(path.relative_to(SAMPLES)) for path in SAMPLES.rglob('*.json')}, used)
