# SPDX-License-Identifier: Apache-2.0

"""The body of a sign-in from the web page."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate import exceptions

_DOMAIN: Final = 'Default'
_LONGEST: Final = 4096
_SHORT: Final = 255
_KINDS: Final[tuple[tuple[frozenset[str], frozenset[str]], ...]] = (
    (frozenset({'username', 'password'}), frozenset({'user_domain', 'project', 'project_domain'})),
    (frozenset({'token'}), frozenset({'project', 'project_domain'})),
    (frozenset({'application_credential_id', 'application_credential_secret'}), frozenset()),
    (frozenset({'project_id'}), frozenset()),
)
_SECRET: Final = frozenset({'password', 'token', 'application_credential_secret'})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SignIn:
    """What a user has entered; one of password, token and credential.

    :ivar project_id: another project for one who is signed in
    """

    username: str = ''
    password: str = dataclasses.field(default='', repr=False)
    user_domain: str = _DOMAIN
    project: str = ''
    project_domain: str = _DOMAIN
    token: str = dataclasses.field(default='', repr=False)
    application_credential_id: str = ''
    application_credential_secret: str = dataclasses.field(default='', repr=False)
    project_id: str = ''


def read(body: Mapping[str, Any]) -> SignIn:
    """Return a sign-in.

    :raises climate.exceptions.InvalidInput: naming the field; never with a value
    """
    for required, optional in _KINDS:
        if required <= body.keys():
            unknown = body.keys() - required - optional
            if unknown:
                break
            return SignIn(**{key: _text(key, body[key], key in required) for key in body})
    raise exceptions.InvalidInput(
        'One of these is required: username and password, with user_domain, project and '
        'project_domain; token, with project and project_domain; application_credential_id and '
        'application_credential_secret; project_id'
    )


def way(body: Mapping[str, Any]) -> str:
    """Return the name of the way of a single sign-on.

    :raises climate.exceptions.InvalidInput: if the body is wrong
    """
    if body.keys() != {'sso'}:
        raise exceptions.InvalidInput.of('sso', 'the only field that is required')
    return _text('sso', body['sso'], True)


def _text(key: str, value: Any, required: bool) -> str:
    longest = _LONGEST if key in _SECRET else _SHORT
    if not isinstance(value, str) or (required and not value) or len(value) > longest:
        raise exceptions.MalformedParameter.of(
            key, f'a text of at most {longest} characters is required'
        )
    return value or (_DOMAIN if key.endswith('_domain') else '')
