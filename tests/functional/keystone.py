# SPDX-License-Identifier: Apache-2.0

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
    :ivar projects: those of each user
    :ivar trusted: addresses to which its WebSSO sends tokens without a project
    :ivar services: what the catalog has besides Keystone: type, name and URL of each
    :ivar refuses: the status of all requests, if it is not 0
    :ivar now: its clock
    """

    def _setUp(self) -> None:
        self.tokens: dict[str, str | None] = {'service-token': 'service', 'brought': 'blue'}
        self.projects = ['blue', 'red']
        self.trusted: list[str] = []
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
        if request.path.startswith('/v3/auth/OS-FEDERATION/'):
            return self._sso(request)
        if request.path == '/v3/auth/projects':
            return self._listed(request.headers['X-Auth-Token'])
        if request.path != '/v3/auth/tokens':
            return webob.Response(status=404)
        return self._tokens(request)

    def _tokens(self, request: webob.Request) -> webob.Response:
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
        scope = asked.get('scope', {}).get('project', {})
        project = scope.get('name') or scope.get('id')
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
            if identity['token']['id'] not in self.tokens or project not in self.projects:
                return webob.Response(status=401)
            token = 'token-of-token'
        self.tokens[token] = project
        return self._shown(token, 201)

    def _listed(self, token: str) -> webob.Response:
        if token not in self.tokens:
            return webob.Response(status=401)
        listed = [
            {'id': name, 'name': name, 'domain_id': 'default', 'enabled': True}
            for name in reversed(self.projects)
        ]
        return webob.Response(status=200, json={'projects': listed})

    def _sso(self, request: webob.Request) -> webob.Response:
        """Know the user, and have the browser post a token, as the template of Keystone does."""
        origin = request.GET['origin']
        if origin not in self.trusted:
            return webob.Response(status=401)
        self.tokens['token-of-sso'] = None
        return webob.Response(
            text='<form method="post" action="{}"><input name="token" value="{}"></form>'
            '<script>document.forms[0].submit()</script>'.format(origin, 'token-of-sso')
        )

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
    endpoints = [
        {'id': one, 'interface': one, 'region': 'r', 'region_id': 'r', 'url': url}
        for one in ('public', 'internal', 'admin')
    ]
    return {'type': kind, 'name': name, 'id': name, 'endpoints': endpoints}
