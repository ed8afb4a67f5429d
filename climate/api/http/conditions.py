# SPDX-License-Identifier: Apache-2.0

"""Conditional requests of RFC 9110: entity tags, If-Match and If-None-Match.

An entity tag is a digest of the microversion and the whole body, so it is strong: two
answers with the same tag have the same bytes. If-Match is checked in the transaction that
makes the change, on the lease whose row it has locked.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from typing import Final

from climate import exceptions
from climate.api.http.microversions import Microversion
from climate.api.http.microversions import V1_4
from climate.api.http.streams import JsonText

_READS: Final = frozenset({'GET', 'HEAD'})
_TAG = r'(?:W/)?"[!#-~\x80-\xff]*"'
# A list may have empty elements.
_TAGS = re.compile(rf'[ \t]*(?:,[ \t]*)*{_TAG}(?:[ \t]*,(?:[ \t]*{_TAG})?)*[ \t]*')
_ANY: Final = frozenset({'*'})
HEADERS: Final = frozenset({'HTTP_IF_MATCH', 'HTTP_IF_NONE_MATCH'})
"""Keys of the WSGI environment with conditions."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Conditions:
    """The conditions of a request.

    :ivar match: the tags in If-Match, with quotes; None if it is absent
    :ivar none_match: likewise, in If-None-Match, without the mark of weak ones
    """

    match: frozenset[str] | None
    none_match: frozenset[str] | None

    def __bool__(self) -> bool:
        return self.match is not None or self.none_match is not None

    def check(self, tag: str) -> None:
        """Check the conditions of a change.

        :param tag: of what would be changed
        :raises climate.exceptions.PreconditionFailed: if one is not met
        """
        self.check_match(tag)
        if self.none_match is not None and (self.none_match is _ANY or tag in self.none_match):
            raise exceptions.PreconditionFailed(header='If-None-Match', etag=tag)

    def check_match(self, tag: str) -> None:
        """Check If-Match alone; weak tags never match.

        :raises climate.exceptions.PreconditionFailed: if it is not met
        """
        if self.match is not None and self.match is not _ANY and tag not in self.match:
            raise exceptions.PreconditionFailed(header='If-Match', etag=tag)

    def check_untagged(self) -> None:
        """Check the conditions of a change of what has no tag: only ``*`` can match it.

        :raises climate.exceptions.PreconditionFailed: if one is not met
        """
        if self.match is not None and self.match is not _ANY:
            raise exceptions.PreconditionFailed(header='If-Match', etag='absent')
        if self.none_match is _ANY:
            raise exceptions.PreconditionFailed(header='If-None-Match', etag='absent')

    def knows(self, tag: str) -> bool:
        """Whether the client has what has this tag; the answer to a GET is then 304."""
        return self.none_match is not None and (self.none_match is _ANY or tag in self.none_match)


def read(environ: Mapping[str, Any], version: Microversion) -> Conditions:
    """Return the conditions of a request.

    :raises climate.exceptions.MalformedParameter: if a header is not a list of tags
    """
    if version < V1_4:
        return Conditions(match=None, none_match=None)
    none_match = _tags(environ, 'If-None-Match')
    if none_match is not None and none_match is not _ANY:
        none_match = frozenset(tag.removeprefix('W/') for tag in none_match)
    return Conditions(match=_tags(environ, 'If-Match'), none_match=none_match)


def written(shown: Mapping[str, Any] | JsonText) -> bytes:
    """Return a body."""
    return (shown if isinstance(shown, JsonText) else json.dumps(shown)).encode()


def tag(body: bytes, version: Microversion) -> str:
    """Return the entity tag of a body, with quotes."""
    digest = hashlib.blake2b(body, digest_size=16, salt=str(version).encode())
    return f'"{digest.hexdigest()}"'


def answer(request: Any, response: Any, shown: dict[str, Any] | JsonText, path: str = '') -> Any:
    """Return the answer to a request, with its entity tag from microversion 1.4 on.

    :param response: returned with a body, or with status 304 if the client has it
    :param path: of what is shown, behind the root of the service, for a request that has
        changed it: only Content-Location makes the body, and its tag, those of a GET
    :raises climate.exceptions.ClimateError: if a condition of a GET is malformed, or
        not met
    """
    version: Microversion = request.scope.version
    if version < V1_4:
        return shown
    body = written(shown)
    etag = tag(body, version)
    response.headers['ETag'] = etag
    if path:
        response.content_location = request.application_url + path
    if request.method in _READS:
        conditions = read(request.environ, version)
        conditions.check_match(etag)
        if conditions.knows(etag):
            return unchanged(response, etag)
    response.body = body
    response.content_type = 'application/json'
    response.charset = None
    return response


def unchanged(response: Any, tag: str) -> Any:
    """Return *response* with status 304: the client has what has this tag, with quotes."""
    response.headers['ETag'] = tag
    response.status = HTTPStatus.NOT_MODIFIED
    return response


def tag_list(request: Any, response: Any) -> None:
    """Give a list its entity tag, unless it is streamed, and evaluate the conditions of its GET.

    :param response: gets status 304 if the client has the list
    :raises climate.exceptions.ClimateError: if a condition is malformed, or not met
    """
    if request.method not in _READS or response.etag is not None:
        return
    if not isinstance(response.app_iter, list):
        return
    version: Microversion = request.scope.version
    etag = tag(response.body, version)
    conditions = read(request.environ, version)
    try:
        conditions.check_match(etag)
    except exceptions.PreconditionFailed:
        _discard(response)
        raise
    response.headers['ETag'] = etag
    if conditions.knows(etag):
        _discard(response)
        response.status = HTTPStatus.NOT_MODIFIED
        response.content_type = None


def check_shown(request: Any, response: Any) -> None:
    """Evaluate the conditions of a GET whose answer has no tag.

    :param response: gets status 304 if any version would do
    :raises climate.exceptions.ClimateError: if a condition is malformed, or not met
    """
    environ = request.environ
    if request.method not in _READS or response.etag is not None:
        return
    stated = read(environ, request.scope.version)
    none_match = stated.none_match
    try:
        dataclasses.replace(stated, none_match=None).check_untagged()
    except exceptions.PreconditionFailed:
        _discard(response)
        raise
    if none_match is _ANY:
        _discard(response)
        response.status = HTTPStatus.NOT_MODIFIED
        response.content_type = None


def _discard(response: Any) -> None:
    """Drop a body; one that is streamed reads from the database until it is closed."""
    close = getattr(response.app_iter, 'close', None)
    response.body = b''
    if close is not None:
        close()


def _tags(environ: Mapping[str, Any], header: str) -> frozenset[str] | None:
    """Return the tags in a header; None if it is absent."""
    text = environ.get('HTTP_' + header.upper().replace('-', '_'))
    if text is None:
        return None
    if text.strip(' \t') == '*':
        return _ANY
    if _TAGS.fullmatch(text) is None:
        raise exceptions.MalformedParameter.of(
            header, '* or a list of entity tags in quotes is required'
        )
    return frozenset(re.findall(_TAG, text))
