# SPDX-License-Identifier: Apache-2.0

"""Forks, size limit, noauth and health, each by itself."""

from __future__ import annotations

import base64
import io

import webob
from gunicorn.http.errors import ChunkMissingTerminator
from gunicorn.http.errors import InvalidChunkSize
from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.errors import NoMoreData
from oslo_config import cfg

from climate import exceptions
from climate.api.authentication import auth
from climate.api.http import bodies
from climate.api.http import environ_keys
from climate.api.middleware.health import Health
from climate.api.middleware.health import PATH
from climate.api.middleware.middleware import HeaderSwitch
from climate.api.middleware.middleware import PathSwitch
from climate.api.middleware.middleware import ReadBody
from climate.api.middleware.middleware import SizeLimit
from tests import base


class Inner:
    """An application that remembers what it was asked."""

    environ: dict[str, object] | None = None

    def __call__(self, environ, start_response):
        """Answer 200."""
        self.environ = environ
        return webob.Response('inner')(environ, start_response)


class Stream:
    """A body that cannot be read."""

    def __init__(self, error):
        self._error = error

    def read(self, size):
        """Fail."""
        raise self._error


class SizeLimitTest(base.TestCase):
    """No more than the limit is read, whatever the header says."""

    LIMIT = 10

    def read(self, body, **environ):
        """Send *body* through; return what the application can read of it."""
        inner = Inner()
        request = webob.Request.blank('/', method='POST')
        request.environ.update({'wsgi.input': io.BytesIO(body), 'CONTENT_LENGTH': str(len(body))})
        request.environ.update(environ)
        request.get_response(SizeLimit(ReadBody(inner), self.LIMIT))
        self.assertEqual(b'', inner.environ['wsgi.input'].read())
        return inner.environ[bodies.ENVIRON_KEY]

    def test_up_to_the_limit(self):
        self.assertEqual(b'x' * 10, self.read(b'x' * 10))
        self.assertRaises(exceptions.RequestTooLarge, self.read, b'x' * 11)

    def test_chunked(self):
        chunked = {'CONTENT_LENGTH': '', 'HTTP_TRANSFER_ENCODING': 'chunked'}
        self.assertEqual(b'x' * 10, self.read(b'x' * 10, **chunked))
        self.assertRaises(exceptions.RequestTooLarge, self.read, b'x' * 10**6, **chunked)

    def test_no_length_is_no_body(self):
        self.assertEqual(b'', self.read(b'x', CONTENT_LENGTH=''))

    def test_a_length_that_is_too_small(self):
        self.assertEqual(b'xxx', self.read(b'x' * 1000, CONTENT_LENGTH='3'))

    def test_a_length_that_is_too_large(self):
        self.assertRaises(exceptions.RequestTooLarge, self.read, b'x', CONTENT_LENGTH='9' * 5000)

    def test_fewer_bytes_than_announced(self):
        # The client has gone; what is there may be valid JSON by chance.
        self.assertRaises(exceptions.InvalidInput, self.read, b'{}', CONTENT_LENGTH='3')

    def test_a_lower_limit(self):
        for chunked in ({}, {'CONTENT_LENGTH': '', 'wsgi.input_terminated': True}):
            request = webob.Request.blank('/', method='POST')
            stream = {'wsgi.input': io.BytesIO(b'x' * 5), 'CONTENT_LENGTH': '5'}
            request.environ.update(stream | chunked)
            inner = Inner()
            request.get_response(SizeLimit(inner, self.LIMIT))
            self.assertRaises(exceptions.RequestTooLarge, bodies.raw, inner.environ, 4)

    def test_nothing_is_read_before_it_is_needed(self):
        inner = Inner()
        request = webob.Request.blank('/', method='POST')
        stream = Stream(AssertionError('read too early'))
        request.environ.update({'wsgi.input': stream, 'CONTENT_LENGTH': '5'})
        request.get_response(SizeLimit(inner, self.LIMIT))
        self.assertIsInstance(inner.environ[bodies.ENVIRON_KEY], bodies.UnreadBody)

    def test_what_servers_raise(self):
        for error in (
            InvalidChunkSize(b'0x2'),
            ChunkMissingTerminator(b'xx'),
            NoMoreData(),
            LimitRequestHeaders('trailers'),
            ConnectionResetError(104, 'Connection reset by peer'),
            TimeoutError('timed out'),
            OSError('Apache/mod_wsgi request data read error'),
            ValueError('invalid'),
        ):
            for chunked in ({}, {'CONTENT_LENGTH': '', 'wsgi.input_terminated': True}):
                stream = {'wsgi.input': Stream(error)}
                self.assertRaises(exceptions.InvalidInput, self.read, b'xxx', **stream, **chunked)

    def test_a_length_that_is_none(self):
        for length in ('-1', 'x', '1.5', '٣'):
            self.assertRaises(exceptions.InvalidInput, self.read, b'x', CONTENT_LENGTH=length)


class ForHeadersTest(base.TestCase):
    """One of the headers is enough, even if it is empty."""

    def test_two_ways(self):
        app = HeaderSwitch(['HTTP_A', 'HTTP_B'], webob.Response('having'), webob.Response('others'))
        for sent, wanted in (
            ({}, 'others'),
            ({'C': 'x'}, 'others'),
            ({'A': 'x'}, 'having'),
            ({'b': '', 'C': 'x'}, 'having'),
        ):
            request = webob.Request.blank('/', headers=sent)
            self.assertEqual(wanted, request.get_response(app).text, sent)


class NoAuthTest(base.TestCase):
    """Who a token says the caller is."""

    def identity(self, **headers):
        """Return user, project and roles for a request with *headers*."""
        inner = Inner()
        request = webob.Request.blank('/')
        for name, value in headers.items():
            request.headers[name.replace('_', '-')] = value
        request.get_response(auth.NoAuth(inner))
        environ = inner.environ
        if environ['HTTP_X_IDENTITY_STATUS'] != 'Confirmed':
            return None
        return (environ['HTTP_X_USER_ID'], environ['HTTP_X_PROJECT_ID'], environ['HTTP_X_ROLES'])

    def test_admin_of_demo(self):
        wanted = ('admin', 'demo', 'admin,manager,member,reader')
        self.assertEqual(wanted, self.identity())
        for token in ('', 'notused', 'admin:demo:admin'):
            self.assertEqual(wanted, self.identity(X_Auth_Token=token))

    def test_tokens(self):
        for token, wanted in (
            ('u:p', ('u', 'p', 'member,reader')),
            ('u:p:', ('u', 'p', 'member,reader')),
            ('u:p:reader', ('u', 'p', 'reader')),
            ('u:p:member, x', ('u', 'p', 'member,reader,x')),
            ('bogus', None),
            (':p', None),
            ('u:', None),
            ('u:p:r:x', None),
        ):
            self.assertEqual(wanted, self.identity(X_Auth_Token=token), token)

    def test_the_cloud_gets_the_same(self):
        for sent, token in (('notused', 'admin:demo:admin'), ('u:p', 'u:p')):
            inner = Inner()
            request = webob.Request.blank('/', headers={'X-Auth-Token': sent})
            request.get_response(auth.NoAuth(inner))
            self.assertEqual(token, inner.environ[environ_keys.TOKEN])

    def test_basic(self):
        pair = base64.b64encode(b'alice:demo:reader').decode()
        self.assertEqual(('alice', 'demo', 'reader'), self.identity(Authorization=f'Basic {pair}'))
        self.assertIsNone(self.identity(Authorization='Basic %%%'))

    def test_headers_of_the_caller_are_not_believed(self):
        got = self.identity(
            X_Auth_Token='u:p:reader', X_User_Id='x', X_Roles='admin', X_Project_Id='other'
        )
        self.assertEqual(('u', 'p', 'reader'), got)
        inner = Inner()
        request = webob.Request.blank('/', headers={'X-Domain-Id': 'd', 'X-Role': 'admin'})
        request.get_response(auth.NoAuth(inner))
        self.assertNotIn('HTTP_X_DOMAIN_ID', inner.environ)
        self.assertNotIn('HTTP_X_ROLE', inner.environ)


class HealthTest(base.TestCase):
    """The answers to a load balancer."""

    def setUp(self):
        super().setUp()
        conf = cfg.ConfigOpts()
        conf([])
        self.broken = None
        health = Health(conf, {'database': self.database, 'broker': lambda: None})
        self.app = PathSwitch(PATH, health, Inner())

    def database(self):
        """Fail as the test wants it."""
        if self.broken:
            raise self.broken

    def get(self, path, method='GET'):
        """Ask."""
        return webob.Request.blank(path, method=method).get_response(self.app)

    def test_alive(self):
        self.assertEqual(200, self.get('/healthcheck').status_int)
        self.assertEqual(200, self.get('/healthcheck/').status_int)

    def test_the_rest_is_handed_on(self):
        self.assertEqual('inner', self.get('/v1/healthcheck').text)

    def test_checks(self):
        answer = self.get('/healthcheck?checks=database,broker')
        self.assertEqual(200, answer.status_int)
        self.assertEqual({'database', 'broker'}, set(answer.json['checks']))
        self.assertEqual({'broker'}, set(self.get('/healthcheck?checks=broker').json['checks']))

    def test_a_failing_check(self):
        self.broken = OSError('mysql://user:secret@host')
        answer = self.get('/healthcheck?checks=all')
        self.assertEqual(503, answer.status_int)
        self.assertEqual('Failing checks: database', answer.json['error_message'])
        self.assertEqual('failed', answer.json['checks']['database']['status'])
        self.assertEqual('ok', answer.json['checks']['broker']['status'])
        self.assertNotIn('secret', answer.text)
        self.assertEqual(200, self.get('/healthcheck').status_int)

    def test_wrong_questions(self):
        self.assertEqual(400, self.get('/healthcheck?checks=nope').status_int)
        self.assertEqual(405, self.get('/healthcheck', method='POST').status_int)
