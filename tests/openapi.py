# SPDX-License-Identifier: Apache-2.0

"""What the OpenAPI document says of one request and its answer, for tests that check both."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

import jsonschema
from referencing import Registry
from referencing import Resource
from referencing.jsonschema import DRAFT202012

from climate.api.http import microversions
from climate.api.http.microversions import Microversion
from climate.api.openapi.document import DocumentWriter
from tools import openapi

_URI = 'urn:openapi'


class Described:
    """The document of one microversion.

    :param writer: writes it
    """

    def __init__(self, writer: DocumentWriter, version: Microversion) -> None:
        self.document = writer.document(version)
        resource: Resource[Any] = Resource(contents=self.document, specification=DRAFT202012)
        self._registry: Registry[Any] = Registry().with_resource(_URI, resource)
        # A word is tried before a parameter, as the routes do.
        self._paths = [
            (re.compile(re.sub(r'\{\w+\}', '[^/]+', path)), path)
            for path in sorted(self.document['paths'], key=lambda path: path.replace('{', '~'))
        ]

    def path(self, path: str) -> str | None:
        """Return the described path of a request; None if it has none."""
        below = path.partition('?')[0].removeprefix('/v1')
        for pattern, found in self._paths:
            if pattern.fullmatch(below):
                return found
        return None

    def check_request(self, method: str, path: str, body: Any) -> None:
        """Check a body.

        :raises jsonschema.ValidationError: if it does not match
        """
        self._check(self.document['paths'][path][method.lower()]['requestBody']['content'], body)

    def check_answer(self, method: str, path: str, status: int, body: Any) -> None:
        """Check an answer.

        :raises AssertionError: if the document lacks its status
        :raises jsonschema.ValidationError: if its body does not match
        """
        answers = self.document['paths'][path][method.lower()]['responses']
        assert str(status) in answers, f'{method} {path} answers {status}, which is not described'
        answer = answers[str(status)]
        if '$ref' in answer:
            answer = self.document['components']['responses'][answer['$ref'].rpartition('/')[2]]
        if 'content' not in answer:
            assert not body, f'{method} {path} answers {status} with a body'
            return
        self._check(answer['content'], body)

    def _check(self, content: dict[str, Any], body: Any) -> None:
        schema = content['application/json']['schema']
        # References count from the document.
        text = json.dumps(schema).replace('"#/components', f'"{_URI}#/components')
        jsonschema.Draft202012Validator(json.loads(text), registry=self._registry).validate(body)


@functools.cache
def at(version: Microversion = microversions.MAX) -> Described:
    """Return the document at a microversion, of an API that serves every shipped type."""
    return Described(openapi.writer(), version)
