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


"""A Keystone that answers over HTTP, as far as sign-ins and the validation of tokens need it."""

from __future__ import annotations

import datetime
from typing import Any

import fixtures
import webob

from tests.functional.listening import Listener

PASSWORD = 'correct horse battery'
SECRET = 'staple'


class Keystone(fixtures.Fixture):
    """What the sign-in, and the validation of tokens, need of Keystone.

    :ivar tokens: valid ones, with the project of each
    :ivar services: what the catalog has besides Keystone: type, name and URL of each
    :ivar refuses: the status of all requests, if it is not 0
    :ivar now: its clock
    """

    def _setUp(self) -> None:
        self.tokens: dict[str, str | None] = {'service-token': 'service', 'brought': 'blue'}
        self.services: list[tuple[str, str, str]] = []
        self.refuses = 0
        self.now = lambda: datetime.datetime.now(datetime.UTC)
        self.asked: list[str] = []
        self.url = self.useFixture(Listener(self._answer, threads=2)).address

    def _answer(self, environ: Any, start_response: Any) -> Any:
        request = webob.Request(environ)
        self.asked.append(f'{request.method} {request.path}')
        return self._found(request)(environ, start_response)

    def _found(self, request: webob.Request) -> webob.Response:
        if self.refuses:
            return webob.Response(status=self.refuses)
        if request.path in ('/', '/v3'):
            version = {
                'id': 'v3.14',
                'status': 'stable',
                'links': [{'rel': 'self', 'href': f'{self.url}/v3/'}],
            }
            shown = (
                {'versions': {'values': [version]}} if request.path == '/' else {'version': version}
            )
            return webob.Response(status=300 if request.path == '/' else 200, json=shown)
        if request.path != '/v3/auth/tokens':
            return webob.Response(status=404)
        if request.method == 'POST':
            return self._issue(request.json['auth'])
        subject = request.headers['X-Subject-Token']
        if request.headers['X-Auth-Token'] not in self.tokens:
            return webob.Response(status=401)
        if subject not in self.tokens:
            return webob.Response(status=404)
        if request.method == 'DELETE':
            del self.tokens[subject]
            return webob.Response(status=204)
        return self._shown(subject, 200)

    def _issue(self, asked: Any) -> webob.Response:
        identity = asked['identity']
        (method,) = identity['methods']
        project = asked.get('scope', {}).get('project', {}).get('name')
        if method == 'password':
            user = identity['password']['user']
            if user['password'] != PASSWORD:
                return webob.Response(status=401, json={'error': {'message': 'no'}})
            token = 'service-token' if user['name'] == 'climate' else f'token-of-{user["name"]}'
        elif method == 'application_credential':
            if identity['application_credential']['secret'] != SECRET:
                return webob.Response(status=401)
            token, project = 'token-of-credential', 'blue'
        else:
            if identity['token']['id'] not in self.tokens:
                return webob.Response(status=401)
            token = 'token-of-token'
        self.tokens[token] = project
        return self._shown(token, 201)

    def _shown(self, token: str, status: int) -> webob.Response:
        expires = self.now() + datetime.timedelta(hours=1)
        found: dict[str, Any] = {
            'methods': ['password'],
            'user': {'id': 'u1', 'name': 'alice', 'domain': {'id': 'default', 'name': 'Default'}},
            'expires_at': expires.strftime('%Y-%m-%dT%H:%M:%S.000000Z'),
            'issued_at': '2020-01-01T00:00:00.000000Z',
            'audit_ids': ['x'],
        }
        project = self.tokens[token]
        if project:
            found['project'] = {
                'id': project,
                'name': f'the {project}',
                'domain': {'id': 'default', 'name': 'Default'},
            }
            found['roles'] = [{'id': role, 'name': role} for role in ('member', 'reader')]
            found['catalog'] = [
                _service(*service)
                for service in (('identity', 'keystone', self.url), *self.services)
            ]
        answer = webob.Response(status=status, json={'token': found})
        answer.headers['X-Subject-Token'] = token
        return answer


def _service(kind: str, name: str, url: str) -> dict[str, Any]:
    return {
        'type': kind,
        'name': name,
        'id': name,
        'endpoints': [
            {'id': one, 'interface': one, 'region': 'r', 'region_id': 'r', 'url': url}
            for one in ('public', 'internal', 'admin')
        ],
    }
