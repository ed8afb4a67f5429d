# SPDX-License-Identifier: Apache-2.0

"""Requests with the header Idempotency-Key, which clients can safely repeat.

The header follows draft-ietf-httpapi-idempotency-key-header: its value is a string in
quotes; a key without quotes is accepted as well, since most clients send it so. A POST
claims its key before its handler runs, and stores its answer afterwards, except an error
after which the client has to try again, and except rehearsals, which can run again. Nor is
an answer with a secret stored: the next try replaces the secret of what the first has made. A
repetition gets the stored answer. Requests without the header never come here.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import logging
import re
from typing import Final

import webob

from climate import exceptions
from climate.api import errors
from climate.api.http import bodies
from climate.api.http.environ_keys import CONTEXT
from climate.api.http.waits import Waits
from climate.api.http.wsgi import Environ
from climate.domain.idempotency_keys import IdempotencyKey
from climate.domain.idempotency_keys import KeyedRequest
from climate.domain.idempotency_keys import StoredAnswer
from climate.enforcement.idempotency_keys import KeyedAnswers
from climate.exceptions.failures import log_failure

LOG = logging.getLogger(__name__)

ENVIRON_KEY: Final = 'HTTP_IDEMPOTENCY_KEY'
CLAIMED: Final = 'climate.idempotency_key'
REHEARSED: Final = 'climate.rehearsed'
"""Set in the environment if the request has made nothing, so that it may run again."""
REPLAYED: Final = 'Idempotency-Replayed'

_KEPT_HEADERS: Final = ('Content-Type', 'Content-Location', 'ETag')
_KEY = re.compile(r'[ -~]{1,255}', re.ASCII)
# A string of RFC 8941.
_QUOTED = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"', re.ASCII)
_ESCAPED = re.compile(r'\\(.)')
# How long a request can take, besides the time that the client itself wants to wait.
_LONGEST: Final = datetime.timedelta(seconds=60)


class IdempotentRequests:
    """Claims the keys of requests, and stores their answers.

    :param waits: the requests that wait for leases, which take longer
    """

    def __init__(self, answers: KeyedAnswers, waits: Waits) -> None:
        self._answers = answers
        self._waits = waits

    def begin(self, environ: Environ) -> str:
        """Claim the key of a request; return the id of the object that the request makes.

        :raises climate.api.errors.Answered: if the request was answered before
        :raises climate.exceptions.MalformedParameter: if the header is invalid
        :raises climate.exceptions.Conflict: if the key names another request, or one
            that is still in progress
        """
        request = KeyedRequest(
            project_id=environ[CONTEXT].project_id,
            key=read(environ[ENVIRON_KEY]),
            fingerprint=_fingerprint(environ),
        )
        lasts = _LONGEST + datetime.timedelta(seconds=self._waits.wanted(environ))
        key = self._answers.begin(request, lasts)
        if key.answer is not None:
            raise errors.Answered(_replayed(key.answer))
        environ[CLAIMED] = key
        return key.object_id

    def end(self, environ: Environ, response: webob.Response, *, secret: bool) -> None:
        """Store the response to a request that has claimed its key; never raises.

        :param secret: whether a successful response has a secret, and is not stored
        """
        key: IdempotencyKey = environ.pop(CLAIMED)
        kept = _is_final(environ, response) and not (secret and response.status_int < 400)
        try:
            self._answers.end(key, _stored(response) if kept else None)
        except Exception as error:
            # The response is right anyway. After a while the claim expires.
            log_failure(
                LOG, error, 'The answer to a request with an idempotency key could not be stored'
            )


def read(header: str) -> str:
    """Return the key in a header.

    :raises climate.exceptions.MalformedParameter: if there is none
    """
    text = header.strip()
    if text.startswith('"'):
        quoted = _QUOTED.fullmatch(text)
        text = '' if quoted is None else _ESCAPED.sub(r'\1', quoted[1])
    if _KEY.fullmatch(text) is None:
        raise exceptions.MalformedParameter.of(
            'Idempotency-Key',
            '1 to 255 printable ASCII characters are required, in quotes or without',
        )
    return text


def _fingerprint(environ: Environ) -> str:
    about = [
        environ[CONTEXT].user_id,
        environ['REQUEST_METHOD'],
        environ.get('PATH_INFO', '').rstrip('/'),
        environ.get('QUERY_STRING', ''),
        str(environ['climate.microversion']),
    ]
    digest = hashlib.sha256(json.dumps(about).encode())
    digest.update(bodies.raw(environ))
    return digest.hexdigest()


def _is_final(environ: Environ, response: webob.Response) -> bool:
    """Whether a repetition would get the same answer if it were carried out."""
    passes = environ.get(errors.TRY_AGAIN, False) or environ.get(REHEARSED, False)
    return response.status_int < 500 and not passes


def _stored(response: webob.Response) -> StoredAnswer:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return StoredAnswer(status=response.status_int, headers=headers, body=response.body.decode())


def _replayed(answer: StoredAnswer) -> webob.Response:
    response = webob.Response(status=answer.status, body=(answer.body or '').encode())
    # Without the content type that webob assumes.
    del response.headers['Content-Type']
    response.headers.update(answer.headers)
    response.headers[REPLAYED] = 'true'
    return response
