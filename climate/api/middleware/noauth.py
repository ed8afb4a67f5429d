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

"""Believes callers: for trying out and for tests, never for production.

The token is ``user:project`` or ``user:project:role,role``; without roles the
caller is a member of the project. A missing or empty one, and the word
``notused`` that ``--os-auth-type none`` sends, stand for an admin of the
project ``demo``. With HTTP basic authentication, user name and password
together are read as a token: ``--os-username alice --os-password demo:member``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable

from climate.api.middleware import Environ
from climate.api.middleware import StartResponse
from climate.api.middleware import WSGIApp
from climate.api.middleware.identity import TOKEN

ADMIN = 'admin:demo:admin'
_TOKEN = re.compile(r'(?P<user>[^:\s]{1,255}):(?P<project>[^:\s]{1,255})(?::(?P<roles>[^:]*))?')

# As Keystone implies them.
_IMPLIED = {'admin': ('admin', 'manager', 'member', 'reader'), 'member': ('member', 'reader')}

# Headers that say who the caller is; only this middleware may set them.
_IDENTITY = re.compile(
    r'HTTP_X_(USER|PROJECT|TENANT|DOMAIN|ROLE|IDENTITY|IS_ADMIN|SERVICE|TRUST|SYSTEM)'
    r'|HTTP_OPENSTACK_SYSTEM'
)


class NoAuth:
    """Writes the identity a token claims into the headers Keystone would write."""

    def __init__(self, app: WSGIApp) -> None:
        self._app = app

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Hand the request on, with an identity if the token has one."""
        for key in [key for key in environ if _IDENTITY.match(key)]:
            del environ[key]
        known = token(environ)
        match = _TOKEN.fullmatch(known)
        if match is None:
            environ['HTTP_X_IDENTITY_STATUS'] = 'Invalid'
        else:
            environ['HTTP_X_IDENTITY_STATUS'] = 'Confirmed'
            environ['HTTP_X_USER_ID'] = match['user']
            environ['HTTP_X_PROJECT_ID'] = match['project']
            environ['HTTP_X_ROLES'] = ','.join(roles(match['roles']))
            # Whoever sent none is known to the cloud as who they are here.
            environ[TOKEN] = known
        return self._app(environ, start_response)


def token(environ: Environ) -> str:
    """Return the token of a request, be it empty."""
    given: str = environ.get('HTTP_X_AUTH_TOKEN', '')
    kind, _, credentials = environ.get('HTTP_AUTHORIZATION', '').partition(' ')
    if not given and kind.lower() == 'basic':
        try:
            given = base64.b64decode(credentials, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return 'unreadable'
    return ADMIN if given in {'', 'notused'} else given


def roles(text: str | None) -> list[str]:
    """Return the roles a token names, with those that they imply."""
    named = [role.strip() for role in (text or '').split(',') if role.strip()] or ['member']
    return sorted({implied for role in named for implied in _IMPLIED.get(role, (role,))})
