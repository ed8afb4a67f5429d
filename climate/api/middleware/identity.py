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

"""From the headers an authenticating middleware wrote to a context, or a 401."""

from __future__ import annotations

from collections.abc import Iterable

from oslo_context import context as oslo_context

from climate import exceptions
from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp

CONTEXT = 'climate.context'

# What stands for a token that was not sent, where none has to be.
TOKEN = 'climate.token'  # noqa: S105  the name of a key


class Identity:
    """Refuses requests without an identity before any work is done."""

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on with a context.

        :raises climate.exceptions.NotAuthenticated: if it has no identity
        :raises climate.exceptions.NotAuthorized: if its token has no project
        """
        if environ.get('HTTP_X_IDENTITY_STATUS') != 'Confirmed' or _probe(environ):
            raise exceptions.NotAuthenticated
        # Made here, so that every log line of the request carries its ids.
        context = oslo_context.RequestContext.from_environ(environ)
        context.auth_token = environ.get(TOKEN, context.auth_token)
        if not context.user_id or not context.project_id:
            raise exceptions.NotAuthorized('A token of a project is required')
        environ[CONTEXT] = context
        return self._app(environ, start_response)


def _probe(environ: Environ) -> bool:
    """Whether this is a load balancer that asks whether the API asks for a token."""
    return (
        environ['REQUEST_METHOD'] == 'OPTIONS'
        and environ.get('PATH_INFO', '') in {'', '/'}
        and 'HTTP_X_AUTH_TOKEN' not in environ
        and 'HTTP_AUTHORIZATION' not in environ
    )
