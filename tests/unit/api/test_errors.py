# SPDX-License-Identifier: Apache-2.0
"""Every error is a JSON object, whoever made it."""

from __future__ import annotations

import datetime

import webob
from webob import exc

from climate import exceptions
from climate.api import errors
from climate.api.http import microversions
from climate.api.middleware.middleware import JsonErrors
from climate.plugins.host.errors import HostNotFound
from tests import base


def answer(inner):
    """Return the answer to a request that *inner* deals with."""
    return webob.Request.blank('/v1/leases').get_response(JsonErrors(inner))


def raising(error):
    """Return an application that raises."""

    def app(environ, start_response):
        raise error

    return app


class JsonErrorsTest(base.TestCase):
    """Answers of libraries, and exceptions of all kinds."""

    def test_a_library_that_answers_in_its_own_words(self):
        # As keystonemiddleware does when Keystone does not answer.
        away = exc.HTTPServiceUnavailable('Keystone at http://secret is away')
        away.headers['Retry-After'] = '7'
        got = answer(away)
        self.assertEqual(503, got.status_int)
        self.assertEqual('SERVICE_UNAVAILABLE', got.json['error_name'])
        self.assertEqual('7', got.headers['Retry-After'])
        self.assertNotIn('secret', got.text)

    def test_json_of_a_library_is_rewritten_too(self):
        got = answer(webob.Response(status=409, json_body=['a list']))
        self.assertEqual({'error_code', 'error_message', 'error_name'}, set(got.json))

    def test_what_is_no_error_is_left_alone(self):
        got = answer(webob.Response('fine', content_type='text/plain'))
        self.assertEqual((200, 'fine'), (got.status_int, got.text))

    def test_exceptions(self):
        for error, status in (
            (exc.HTTPNotFound(), 404),
            (exc.HTTPMethodNotAllowed(), 405),
            (exc.HTTPGone(), 400),
            (exc.HTTPBadGateway(), 503),
            (UnicodeDecodeError('utf-8', b'\xff', 0, 1, 'no'), 400),
            (HostNotFound(host='h'), 404),
            (exceptions.DatabaseUnavailable(), 503),
            (RecursionError(), 500),
            (KeyError('x'), 500),
        ):
            got = answer(raising(error))
            self.assertEqual(status, got.status_int, repr(error))
            self.assertEqual(status, got.json['error_code'])
            self.assertIsInstance(got.json['error_message'], str)
            self.assertEqual('application/json', got.headers['Content-Type'])


class BodyTest(base.TestCase):
    """The fields of a refusal."""

    def test_reasons_from_1_1_on(self):
        ends = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
        error = exceptions.NotEnoughResources('hosts', matched=4, free=1, first_blocker_ends=ends)
        self.assertNotIn('reasons', errors.body(error, microversions.V1_0))
        expected = [{'matched': 4, 'free': 1, 'first_blocker_ends': '2030-01-01T00:00:00Z'}]
        self.assertEqual(expected, errors.body(error, microversions.V1_1)['reasons'])

    def test_no_reasons_if_none_are_known(self):
        error = exceptions.NotEnoughResources('hosts')
        self.assertNotIn('reasons', errors.body(error, microversions.V1_1))
