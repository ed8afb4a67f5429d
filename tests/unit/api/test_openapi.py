# SPDX-License-Identifier: Apache-2.0

"""The OpenAPI document: valid, complete, in step with the samples, and served at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import webob
from openapi_spec_validator import OpenAPIV31SpecValidator

from climate.api.http import microversions
from climate.api.http.microversions import Microversion
from climate.api.middleware.middleware import Negotiation
from climate.api.openapi import document
from climate.api.openapi import operations
from climate.api.openapi import parameters
from climate.api.openapi import requests
from climate.api.openapi import served
from doc.ext import operations_table
from tests import base
from tests import openapi
from tests import shown
from tests.architecture import ROOT
from tests.functional.api_story import Step
from tests.functional.api_story import STORY
from tests.unit.messaging import samples as messages
from tools import openapi as shipped

SAMPLES = ROOT / 'api-ref' / 'source' / 'samples'
VERSIONS = tuple(Microversion(*map(int, text.split('.'))) for text, _ in microversions.HISTORY)


def samples() -> Iterator[tuple[Step, openapi.Described, str]]:
    """Yield the steps of the API reference, with what describes them and their path."""
    for step in STORY:
        described = openapi.at(Microversion(*map(int, step.version.split('.'))))
        path = described.path(step.path.replace('{', '').replace('}', ''))
        if path is not None:
            yield step, described, path


def sample(name: str) -> Any:
    """Return the body in a file; None if there is none."""
    file = SAMPLES / f'{name}.json'
    return json.loads(file.read_text(encoding='utf-8')) if file.exists() else None


class DocumentTest(base.TestCase):
    """The document at each microversion."""

    def test_it_is_valid_at_the_first_and_the_last_microversion(self) -> None:
        # Each takes a second or two; the versions between have the parts of these.
        for version in (microversions.MIN, microversions.MAX):
            OpenAPIV31SpecValidator(openapi.at(version).document).validate()

    def test_schemas_are_json_schema_and_patterns_are_not_of_python_only(self) -> None:
        for version in VERSIONS:
            found = openapi.at(version).document
            for schema in found['components']['schemas'].values():
                jsonschema.Draft202012Validator.check_schema(schema)
            self.assertNotIn('\\\\Z', json.dumps(found))

    def test_each_route_is_in_it_from_its_microversion_on(self) -> None:
        all_routes = list(shipped.table())
        for version in VERSIONS:
            described = {
                (verb.upper(), path)
                for path, item in openapi.at(version).document['paths'].items()
                for verb in item
            }
            wanted = {(one.method, one.path) for one in all_routes if one.since <= version}
            self.assertEqual(wanted, described)

    def test_a_lease_can_take_an_offer_from_the_microversion_of_offers_on(self) -> None:
        bodies = requests.BODIES['POST', '/leases']
        taking = {version for version, schema in bodies.items() if 'offer_id' in repr(schema)}
        self.assertEqual({one for one in bodies if one >= microversions.V1_4}, taking)

    def test_no_description_is_left_of_a_route_that_is_gone(self) -> None:
        known = {(one.method, one.path) for one in shipped.table()}
        self.assertEqual(set(), set(operations.OPERATIONS) - known)
        self.assertEqual(set(), (set(requests.BODIES) | requests.BODILESS) - known)
        self.assertEqual(set(), {(method, path) for method, path, _ in parameters.REQUIRED} - known)

    def test_a_route_without_a_schema_is_refused_by_name(self) -> None:
        writer = shipped.writer()
        writer._operations.pop(('GET', '/leases'))
        error = self.assertRaises(document.UndescribedRoute, writer.document, microversions.MAX)
        self.assertIn('GET /v1/leases has no schema of its answers', str(error))
        self.assertIn('climate/api/openapi', str(error))
        # A service leaves it out rather than have no document.
        left = writer.document(microversions.MAX, complete=False)['paths']
        self.assertEqual({'post'}, set(left['/leases']))

    def test_a_parameter_without_a_schema_is_refused_by_name(self) -> None:
        writer = shipped.writer()
        (route,) = (one for one in writer._routes if one.path == '/availability')
        self.patch(parameters, 'QUERY', {**parameters.QUERY})
        del parameters.QUERY[next(iter(route.parameters or ()))]
        error = self.assertRaises(document.UndescribedRoute, writer.document, microversions.MAX)
        self.assertIn('GET /v1/availability has no schema of its parameter', str(error))

    def test_samples_of_the_reference_match_it(self) -> None:
        checked = 0
        for step, described, path in samples():
            described.check_answer(step.method, path, step.status, sample(f'{step.name}-response'))
            if step.sends:
                described.check_request(step.method, path, sample(f'{step.name}-request'))
            checked += 1
        self.assertGreater(checked, 50)

    def test_leases_have_all_keys_that_it_describes_and_no_others(self) -> None:
        for version in VERSIONS:
            seen = shown.lease(messages.lease(), {}, version)
            component = openapi.at(version).document['components']['schemas']['Lease']
            self.assertEqual(set(component['properties']), set(seen), str(version))

    def test_only_an_action_without_a_body_describes_none(self) -> None:
        self.assertEqual(set(), requests.BODILESS & set(requests.BODIES))
        for path, item in openapi.at().document['paths'].items():
            for verb in {'post', 'put', 'patch'} & set(item):
                bodiless = (verb.upper(), path) in requests.BODILESS
                self.assertEqual(bodiless, 'requestBody' not in item[verb], path)
                self.assertEqual(bodiless, '415' not in item[verb]['responses'], path)

    def test_an_answer_that_differs_is_found(self) -> None:
        described = openapi.at()
        body = sample('leases/show-1.1-response')
        with self.assertRaises(jsonschema.ValidationError):
            described.check_answer('GET', '/leases/{lease_id}', 200, body)
        with self.assertRaises(AssertionError):
            described.check_answer('GET', '/leases/{lease_id}', 418, body)

    def test_the_page_has_a_row_for_each_operation(self) -> None:
        found = openapi.at().document
        table = operations_table.rst_tables(found)
        for path, item in found['paths'].items():
            for verb in item:
                self.assertIn(f'   * - ``{verb.upper()} {path}``\n', table)
        self.assertIn('``lease``', table)


class ServedTest(base.TestCase):
    """The answers to requests for the document."""

    def setUp(self) -> None:
        super().setUp()
        self.app = Negotiation(served.OpenApi(shipped.writer()))

    def get(self, version: str = '1.5', method: str = 'GET', **headers: str) -> webob.Response:
        """Return the answer to a request."""
        request = webob.Request.blank(served.PATH, method=method)
        request.headers['OpenStack-API-Version'] = f'reservation {version}'
        for name, value in headers.items():
            request.headers[name.replace('_', '-')] = value
        return request.get_response(self.app)

    def test_it_is_that_of_the_microversion(self) -> None:
        for version in VERSIONS:
            answer = self.get(str(version))
            self.assertEqual(200, answer.status_int)
            self.assertEqual('application/json', answer.content_type)
            self.assertEqual(openapi.at(version).document, answer.json)
        newest = webob.Request.blank(served.PATH).get_response(self.app)
        self.assertEqual(openapi.at().document, newest.json)
        self.assertNotIn('/offers', self.get('1.3').json['paths'])
        self.assertIn('/offers', self.get('1.4').json['paths'])

    def test_a_client_that_has_it_does_not_get_it_again(self) -> None:
        first = self.get()
        again = self.get(If_None_Match=first.headers['ETag'])
        self.assertEqual((304, b''), (again.status_int, again.body))
        self.assertEqual(200, self.get('1.4', If_None_Match=first.headers['ETag']).status_int)

    def test_it_is_made_once(self) -> None:
        first = self.get().headers['ETag']
        self.patch(self.app._app._writer, 'document', None)
        self.assertEqual(first, self.get().headers['ETag'])

    def test_it_is_small_when_packed(self) -> None:
        packed = self.get(Accept_Encoding='gzip')
        self.assertEqual('gzip', packed.content_encoding)
        self.assertLess(len(packed.body), 20_000)
        self.assertNotEqual(self.get().etag, packed.etag)
        self.assertIn('Accept-Encoding', packed.vary)
        packed.decode_content()
        self.assertEqual(self.get().body, packed.body)

    def test_head_and_other_methods(self) -> None:
        head = self.get(method='HEAD')
        self.assertEqual((200, b''), (head.status_int, head.body))
        for method in ('POST', 'DELETE', 'PUT'):
            self.assert_has(self.get(method=method), status_int=405, allow=('GET', 'HEAD'))
