# SPDX-License-Identifier: Apache-2.0

"""What is about HTTP and about no noun: Keystone, outages, browsers, prefixes, the log."""

from __future__ import annotations

import dataclasses
import http.server as httpd
import logging
import threading
from unittest import mock

import fixtures as testing
import webob
from gunicorn.http.errors import InvalidChunkSize
from keystoneauth1 import loading as ks_loading
from keystonemiddleware import fixture as keystone_fixture
from keystonemiddleware import opts as auth_token_opts

from climate.api import app
from climate.api.authentication import auth
from climate.api.authentication.auth import NoAuth
from climate.api.routing.services import ApiSettings
from climate.booking.leases import Leases
from climate.clock import SystemClock
from climate.leases.settings import LeasingSettings
from tests import base
from tests.functional import fixtures
from tests.functional import http
from tests.functional.db import cases
from tests.functional.fixtures import ServiceCase


class KeystoneTest(base.TestCase):
    """Tokens that Keystone validates."""

    URI = 'https://cloud.example/identity'

    def setUp(self):
        super().setUp()
        self.keystone = self.useFixture(keystone_fixture.AuthTokenFixture())
        self.keystone.add_token_data(
            token_id='good', user_id='u1', project_id='p1', role_list=['member', 'reader']
        )
        self.keystone.add_token_data(token_id='unscoped', user_id='u1')
        self.service = self.useFixture(fixtures.Service(authenticate=self.authenticate))

    def authenticate(self, conf):
        """Return the wrapper, with what operators configure."""
        for group, options in auth_token_opts.list_auth_token_opts():
            conf.register_opts(options, group=group)
        conf.set_override('www_authenticate_uri', self.URI, group='keystone_authtoken')
        return auth.keystone(conf)

    def send(self, method, path, token, body=None):
        """Send a request."""
        return http.send(self.service.app, method, path, body, token=token)

    def test_identity_comes_from_the_token(self):
        answer = http.expect(201, self.send('POST', '/v1/leases', 'good', http.LEASE))
        self.assert_has(answer.json['lease'], project_id='p1', user_id='u1')

    def test_a_bad_token(self):
        before = self.service.rows()
        answer = http.expect(401, self.send('POST', '/v1/leases', 'bad', http.LEASE))
        self.assertEqual(f'Keystone uri="{self.URI}"', answer.headers['WWW-Authenticate'])
        self.assertEqual('NOT_AUTHENTICATED', answer.json['error_name'])
        self.assertEqual(before, self.service.rows())

    def test_caches_keep_nothing_for_others(self):
        for path, token, status in (
            ('/v1/leases', 'good', 200),
            ('/v1/leases/none', 'good', 404),
            ('/v1/leases', 'bad', 401),
        ):
            answer = http.expect(status, self.send('GET', path, token))
            self.assertEqual('private, no-cache', answer.headers['Cache-Control'])
            self.assertEqual('OpenStack-API-Version, X-Auth-Token', answer.headers['Vary'])

    def slow(self, path, error, **headers):
        """Send a request whose body cannot be read; return the answer and the log."""
        log = self.useFixture(testing.FakeLogger('climate'))
        request = webob.Request.blank(path, method='POST', headers=headers)
        stream = mock.Mock(**{'read.side_effect': error})
        request.environ.update({'wsgi.input': stream, 'wsgi.input_terminated': True})
        return request.get_response(self.service.app), stream.read.call_count, log.output

    def test_a_body_is_read_for_a_token_only(self):
        for path in ('/v1/leases', '/v1/nothing', '/', '/healthcheck', '/v1/openapi.json'):
            for headers in ({}, {'X-Auth-Token': 'bad'}, {'X-Auth-Token': 'unscoped'}):
                answer, reads, _ = self.slow(path, AssertionError, **headers)
                self.assertLess(answer.status_int, 500, path)
                self.assertEqual(0, reads, path)

    def test_a_body_that_cannot_be_read(self):
        for error in (InvalidChunkSize(b'0x2'), ConnectionResetError(), TimeoutError()):
            answer, reads, log = self.slow('/v1/leases', error, **{'X-Auth-Token': 'good'})
            self.assertEqual((400, 1), (answer.status_int, reads), answer.text)
            self.assertEqual('The body cannot be read', answer.json['error_message'])
            self.assertNotIn('Traceback', log)

    def test_no_token(self):
        request = webob.Request.blank('/v1/leases', headers={'X-Roles': 'admin', 'X-User-Id': 'u'})
        self.assertEqual(401, request.get_response(self.service.app).status_int)

    def test_a_token_without_a_project(self):
        answer = http.expect(403, self.send('GET', '/v1/leases', 'unscoped'))
        self.assertIn('project', answer.json['error_message'])

    def test_documents_and_health_need_none(self):
        for path, status in (('/', 300), ('/v1', 200), ('/v1/', 200), ('/healthcheck', 200)):
            http.expect(status, webob.Request.blank(path).get_response(self.service.app))

    def test_the_option_names_the_strategy(self):
        conf = self.service.conf
        self.assertIs(NoAuth, auth.wrapper(conf))
        conf.set_override('auth_strategy', 'keystone')
        self.assertIsNot(NoAuth, auth.wrapper(conf))


class KeystoneOutageTest(base.TestCase):
    """Keystone does not answer, or answers that it cannot."""

    def setUp(self):
        super().setUp()
        self.service = self.useFixture(fixtures.Service(authenticate=self.authenticate))

    def authenticate(self, conf):
        """Return the wrapper; Keystone is where the test says."""
        for group, options in auth_token_opts.list_auth_token_opts():
            conf.register_opts(options, group=group)
        for name, value in (('http_request_max_retries', 0), ('auth_type', 'password')):
            conf.set_override(name, value, group='keystone_authtoken')
        options = ks_loading.get_auth_plugin_conf_options('password')
        conf.register_opts(options, group='keystone_authtoken')
        for name in ('username', 'password', 'project_name'):
            conf.set_override(name, 'climate', group='keystone_authtoken')
        for name in ('user_domain_name', 'project_domain_name'):
            conf.set_override(name, 'Default', group='keystone_authtoken')
        conf.set_override('auth_url', self.url(), group='keystone_authtoken')
        return auth.keystone(conf)

    def url(self):
        """Return an address at which nobody listens."""
        return 'http://127.0.0.1:1/v3'

    def test_it_is_not_the_token_that_is_bad(self):
        for method, path, body in (('GET', '/v1/leases', None), ('POST', '/v1/leases', http.LEASE)):
            answer = http.expect(503, http.send(self.service.app, method, path, body, token='good'))
            self.assertEqual('CLOUD_UNAVAILABLE', answer.json['error_name'])
            self.assertNotIn('127.0.0.1', answer.text)
            self.assertNotIn('WWW-Authenticate', answer.headers)

    def test_documents_need_no_keystone(self):
        http.expect(200, webob.Request.blank('/v1').get_response(self.service.app))


class KeystoneFailureTest(KeystoneOutageTest):
    """Keystone answers with a failure of its own."""

    def url(self):
        """Return the address of a Keystone that lost its database."""
        server = httpd.ThreadingHTTPServer(('127.0.0.1', 0), _Failing)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f'http://127.0.0.1:{server.server_port}/v3'


class _Failing(httpd.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(503)

    do_POST = do_GET

    def log_message(self, *_):
        """Say nothing."""


class OutageTest(ServiceCase):
    """The database does not answer."""

    def setUp(self):
        super().setUp()
        # A port at which nobody listens.
        store = cases.connect('postgresql+psycopg2://climate@127.0.0.1:1/climate', SystemClock())
        whole = self.service.services
        leases = Leases(store, whole.plugins, whole.clock, LeasingSettings(), wake=lambda: None)
        broken = dataclasses.replace(whole, leases=leases, health={'database': store.ping})
        settings = ApiSettings.from_conf(self.service.conf, auth.wrapper(self.service.conf))
        self.app = app.make_app(broken, settings)

    def test_503(self):
        lease = '/v1/leases/11111111-2222-3333-4444-555555555555'
        for method, path, body in (
            ('GET', '/v1/leases', None),
            ('POST', '/v1/leases', http.LEASE),
            ('GET', lease, None),
            ('PUT', lease, {'name': 'x'}),
            ('DELETE', lease, None),
        ):
            answer = http.expect(503, http.send(self.app, method, path, body))
            self.assertEqual('DATABASE_UNAVAILABLE', answer.json['error_name'])
            self.assertNotIn('127.0.0.1', answer.text)

    def test_health_says_so(self):
        answer = http.expect(503, http.send(self.app, 'GET', '/healthcheck?checks=all'))
        self.assertEqual('failed', answer.json['checks']['database']['status'])
        self.assertEqual(200, http.send(self.app, 'GET', '/healthcheck').status_int)

    def test_documents_are_reported_all_the_same(self):
        self.assertEqual(200, http.send(self.app, 'GET', '/v1').status_int)


class FaultTest(base.TestCase):
    """Something nobody foresaw."""

    def test_nothing_leaks(self):
        service = self.useFixture(fixtures.Service())

        def explode(query):
            raise RuntimeError('secret: hunter2')

        service.services.leases.batches = explode
        log = self.useFixture(testing.FakeLogger(level=logging.DEBUG))
        self.assertEqual(
            {
                'error_code': 500,
                'error_message': 'Internal Server Error',
                'error_name': 'INTERNAL_SERVER_ERROR',
            },
            http.expect(500, http.send(service.app, 'GET', '/v1/leases')).json,
        )
        self.assertIn('Traceback', log.output)


class BrowsersTest(base.TestCase):
    """Scripts of other sites, if the operator lets them."""

    def test_cors(self):
        service = fixtures.Service()
        origin = 'https://horizon.example'
        self.useFixture(service)
        service.conf.set_override('allowed_origin', [origin], group='cors')
        settings = ApiSettings.from_conf(service.conf, auth.wrapper(service.conf))
        application = app.make_app(service.services, settings)
        preflight = webob.Request.blank('/v1/leases', method='OPTIONS')
        preflight.headers['Origin'] = origin
        preflight.headers['Access-Control-Request-Method'] = 'GET'
        preflight.headers['Access-Control-Request-Headers'] = (
            'X-Auth-Token, OpenStack-API-Version, Idempotency-Key, If-Match, If-None-Match, Prefer'
        )
        answer = http.expect(200, preflight.get_response(application))
        self.assertEqual(origin, answer.headers['Access-Control-Allow-Origin'])
        answer = http.send(application, 'GET', '/v1/leases', headers={'Origin': origin})
        self.assertEqual(origin, answer.headers['Access-Control-Allow-Origin'])
        shown = answer.headers['Access-Control-Expose-Headers'].split(',')
        for name in ('ETag', 'Idempotency-Replayed', 'Preference-Applied', 'Retry-After'):
            self.assertIn(name, [each.strip() for each in shown])
        free = '/v1/availability?resource_type=physical:host'
        facts = {'version': '1.4', 'headers': {'Origin': origin}}
        first = http.send(application, 'GET', free, **facts)
        facts['headers']['If-None-Match'] = first.headers['ETag']
        again = http.send(application, 'GET', free, **facts)
        self.assertEqual((200, 304), (first.status_int, again.status_int))
        for answer in (first, again):
            self.assertEqual(origin, answer.headers['Access-Control-Allow-Origin'])
            self.assertIn('ETag', answer.headers['Access-Control-Expose-Headers'].split(','))
        answer = http.send(application, 'GET', '/v1/leases', headers={'Origin': 'https://x'})
        self.assertNotIn('Access-Control-Allow-Origin', answer.headers)


class PrefixTest(base.TestCase):
    """A server that mounts the service below a path."""

    def test_links_and_routes(self):
        service = self.useFixture(fixtures.Service())

        def send(path):
            request = webob.Request.blank(path, base_url='http://cloud.example/reservation')
            return request.get_response(service.app)

        for path in ('/', '/v1', '/v1/'):
            (version,) = send(path).json['versions']
            self.assertEqual('http://cloud.example/reservation/v1', version['links'][0]['href'])
        self.assertEqual(200, send('/v1/leases').status_int)

    def test_next_page(self):
        service = self.useFixture(fixtures.Service())
        bare = {**http.LEASE, 'reservations': []}
        for _ in range(2):
            http.send(service.app, 'POST', '/v1/leases', bare)
        request = webob.Request.blank(
            '/v1/leases?limit=1', base_url='http://cloud.example/reservation'
        )
        request.headers['OpenStack-API-Version'] = 'reservation 1.1'
        (link,) = request.get_response(service.app).json['leases_links']
        self.assertIn('http://cloud.example/reservation/v1/leases?limit=1&marker=', link['href'])


class LogTest(base.TestCase):
    """What is written of a request."""

    def test_a_line_without_secrets(self):
        service = self.useFixture(fixtures.Service())
        log = self.useFixture(testing.FakeLogger(level=logging.DEBUG))
        http.send(service.app, 'GET', '/v1/leases?name=private', token='user:project:member')
        self.assertIn('GET /v1/leases 200', log.output)
        self.assertNotIn('user:project', log.output)
        self.assertNotIn('private', log.output)

    def test_a_line_is_short(self):
        service = self.useFixture(fixtures.Service())
        log = self.useFixture(testing.FakeLogger(level=logging.INFO))
        http.send(service.app, 'A' * 60000, '/v1/' + 'x' * 60000)
        (line,) = [line for line in log.output.splitlines() if 'AAA' in line]
        self.assertLess(len(line), 700)


class OutermostTest(base.TestCase):
    """What the middleware does in which order, on the whole application."""

    def setUp(self):
        super().setUp()
        self.app = self.useFixture(fixtures.Service()).app
        self.log = self.useFixture(testing.FakeLogger(level=logging.INFO))

    def test_headers_of_unknown_proxies_are_ignored(self):
        for name, value in (
            ('X-Forwarded-For', '192.0.2.66'),
            ('X-Forwarded-Host', 'evil.example'),
            ('X-Forwarded-Proto', 'https'),
            ('X-Forwarded-Prefix', '/evil'),
            ('Forwarded', 'for=192.0.2.66;host=evil.example;proto=https'),
        ):
            request = webob.Request.blank('/v1', headers={name: value}, remote_addr='203.0.113.5')
            link = request.get_response(self.app).json['versions'][0]['links'][0]['href']
            self.assertEqual('http://localhost/v1', link, name)
        self.assertEqual(5, self.log.output.count('203.0.113.5 GET /v1 200'), self.log.output)
        self.assertNotIn('192.0.2.66', self.log.output)

    def test_health_is_not_logged(self):
        for path in ('/healthcheck', '/healthcheck/', '/healthcheck?checks=all'):
            answer = http.expect(200, http.send(self.app, 'GET', path))
            self.assertIn('X-Openstack-Request-Id', answer.headers)
        self.assertNotIn('healthcheck', self.log.output)
        http.send(self.app, 'GET', '/v1/healthcheck')
        self.assertIn('GET /v1/healthcheck 404', self.log.output)

    def test_the_size_counts_before_the_token(self):
        answer = http.send(self.app, 'POST', '/v1/leases', raw=b' ' * 10**7, token='bogus')
        self.assertEqual(413, answer.status_int)
        answer = http.send(self.app, 'POST', '/v1/leases', raw=b'{', token='bogus')
        self.assertEqual(401, answer.status_int)
