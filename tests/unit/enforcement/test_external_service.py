# SPDX-License-Identifier: Apache-2.0

"""The external service, over real sockets."""

from __future__ import annotations

import json
import pathlib
import socket
import ssl
import subprocess
import threading

import fixtures

from climate import exceptions
from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.enforcement import bodies
from climate.enforcement.base import End
from climate.enforcement.base import Ending
from climate.enforcement.external_service import ExternalService
from tests import base
from tests import usage_service
from tests.printed import blocks
from tests.printed import helpers
from tests.unit.enforcement import questions
from tests.unit.enforcement.test_durations import configured


class ServiceCase(base.TestCase):
    """A service that answers."""

    def setUp(self) -> None:
        super().setUp()
        self.usage_service = self.useFixture(usage_service.UsageService())
        self.logger = self.useFixture(fixtures.FakeLogger())

    def filter(self, **options: object) -> ExternalService:
        options.setdefault('external_service_base_endpoint', self.usage_service.url)
        options.setdefault('external_service_timeout', 60.0)
        options.setdefault('external_service_token', 's3cret')
        return ExternalService.from_conf(configured(**options))

    def test_plain_text_is_warned_of(self) -> None:
        """Not to this machine; each call has an address of its own."""
        for address, own, warned in (
            ('http://usage.example.org/v1', None, True),
            ('https://usage.example.org/v1', None, False),
            ('https://usage.example.org/v1', 'http://10.0.0.7/end', True),
            ('http://localhost:8080', None, False),
            ('http://[::1]:8080', 'http://127.0.0.1/end', False),
        ):
            options: dict[str, object] = {'external_service_base_endpoint': address}
            if own is not None:
                options['external_service_on_end_endpoint'] = own
            self.filter(**options)
            self.assertEqual(warned, 'can read its token' in self.logger.output, address)
            self.assertNotIn('s3cret', self.logger.output)
            self.logger.reset_output()

    def charge(self, state: ChargeState) -> Charge:
        return questions.charge(state, lease={'id': 'l1'})

    def refused(self, **options: object) -> exceptions.LimitExceeded:
        """Return the error of a new lease."""
        found: exceptions.LimitExceeded = self.assertRaises(
            exceptions.LimitExceeded, self.filter(**options).check_create, questions.creation()
        )
        return found


class TestQuestions(ServiceCase):
    """What is asked, and what the answers mean."""

    def test_what_is_sent(self) -> None:
        service = self.filter(auth_url='http://keystone/v3', region_name='one')
        service.check_create(questions.creation())
        (call,) = self.usage_service.calls
        self.assertEqual('check-create', call.name)
        self.assertEqual('s3cret', call.headers['x-auth-token'])
        self.assertEqual('application/json', call.headers['content-type'])
        self.assertEqual('q1', call.headers['idempotency-key'])
        expected = {
            'id': 'q1',
            'action': 'create',
            'context': {
                'user_id': 'alice',
                'project_id': 'blue',
                'auth_url': 'http://keystone/v3',
                'region_name': 'one',
            },
            'lease': {
                'id': 'l1',
                'name': 'one',
                'user_id': 'alice',
                'project_id': 'blue',
                'start_date': '2030-01-01T12:00:00.000000',
                'end_date': '2030-01-01T13:00:00.000000',
                'before_end_date': None,
                'status': 'PENDING',
                'reservations': [
                    {
                        'id': 'r1',
                        'resource_type': 'physical:host',
                        'min': 2,
                        'max': 2,
                        'resource_properties': '',
                        'allocations': [
                            {
                                'id': str(number),
                                'name': f'compute-{number}',
                                'resource_type': 'physical:host',
                                'resource_class': None,
                                'amount': 1,
                                'hypervisor_hostname': f'compute-{number}.example.org',
                                'vcpus': 8,
                                'node_type': 'gpu',
                            }
                            for number in (1, 2)
                        ],
                    }
                ],
            },
        }
        self.assertEqual(expected, call.body)
        self.assertNotIn('s3cret', self.logger.output)

    def test_the_page_shows_its_fields(self) -> None:
        self.filter().check_create(questions.creation())
        (call,) = self.usage_service.calls
        page = 'doc/source/admin/limits.rst'
        (block,) = (b for b in blocks.blocks() if b.page == page and b.language == 'json')
        # What a reservation of hosts asks for is not what this question's does.
        request = {
            '.lease.reservations[].hypervisor_properties',
            '.lease.reservations[].before_end',
        }
        shown = helpers.fields(json.loads(block.text))
        self.assertEqual(helpers.fields(call.body), shown - request)

    def test_a_change_says_what_is_and_what_would_be(self) -> None:
        self.filter().check_update(questions.change(3600, 7200, 60))
        (call,) = self.usage_service.calls
        self.assertEqual('check-update', call.name)
        self.assertEqual('update', call.body['action'])
        self.assertEqual('bob', call.body['context']['user_id'])
        self.assertEqual('2030-01-01T13:00:00.000000', call.body['current_lease']['end_date'])
        self.assertEqual('2030-01-01T14:00:00.000000', call.body['lease']['end_date'])

    def test_endpoints_of_their_own(self) -> None:
        self.filter(
            external_service_base_endpoint=None,
            external_service_two_phase=False,
            external_service_check_create_endpoint=f'{self.usage_service.url}/may-they',
            external_service_check_update_endpoint=f'{self.usage_service.url}/may-they-still',
        ).check_create(questions.creation())
        self.assertEqual(['may-they'], self.usage_service.names)

    def test_without_a_token(self) -> None:
        self.filter(external_service_token='').check_create(questions.creation())
        self.assertNotIn('x-auth-token', self.usage_service.calls[0].headers)

    def test_a_refusal_says_why(self) -> None:
        self.usage_service.answers['check-create'] = usage_service.refusal('No hours left')
        error = self.refused()
        self.assertIsInstance(error, exceptions.ExternalServiceRefused)
        self.assertEqual('No hours left', error.message)

    def test_a_refusal_without_a_word_or_with_a_strange_one(self) -> None:
        for body in (b'', b'{}', b'[]', b'no', b'{"message": 5}', b'[' * 60000, b'\xff'):
            self.usage_service.answers['check-create'] = usage_service.Answer(status=403, body=body)
            error = self.refused()
            self.assertIsInstance(error, exceptions.ExternalServiceRefused)
            self.assertEqual(exceptions.ExternalServiceRefused.template, error.message)

    def test_long_words_are_cut(self) -> None:
        self.usage_service.answers['check-create'] = usage_service.refusal('x' * 5000)
        self.assertEqual('x' * 999 + '…', self.refused().message)
        self.usage_service.answers['check-create'] = usage_service.refusal('x' * 1_000_000)
        self.assertEqual(exceptions.ExternalServiceRefused.template, self.refused().message)


class TestNoAnswer(ServiceCase):
    """The service is away, slow or broken."""

    def assert_no_answer(self, **options: object) -> None:
        """Fail unless it is taken for no answer, whatever that means by *options*."""
        error = self.refused(**options)
        self.assertIsInstance(error, exceptions.ExternalServiceUnavailable)
        self.assertIn('gave no answer', error.message)
        self.filter(external_service_unavailable='allow', **options).check_create(
            questions.creation()
        )

    def test_other_answers(self) -> None:
        for status in (200, 201, 302, 400, 401, 404, 409, 429, 500, 503):
            self.usage_service.answers['check-create'] = usage_service.Answer(
                status=status, body=b'{"message": "secret of the house"}'
            )
            self.assert_no_answer()

    def test_the_token_follows_no_redirect(self) -> None:
        other = self.useFixture(usage_service.UsageService())
        self.usage_service.answers['check-create'] = usage_service.Answer(
            status=307, headers=(('Location', f'{other.url}/check-create'),)
        )
        self.assert_no_answer()
        self.assertEqual([], other.calls)

    def test_what_is_no_http(self) -> None:
        for raw in (b'', b'nonsense\r\n', b'HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\n{'):
            self.usage_service.answers['check-create'] = usage_service.Answer(raw=raw)
            self.assert_no_answer()

    def test_it_does_not_answer_in_time(self) -> None:
        self.usage_service.silent.add('check-create')
        self.assert_no_answer(external_service_timeout=0.1)

    def test_it_stops_in_the_middle(self) -> None:
        listener = self.closing(socket.create_server(('127.0.0.1', 0)))
        kept: list[socket.socket] = []

        def half() -> None:
            for _ in range(2):
                connection, _ = listener.accept()
                kept.append(connection)
                connection.recv(65536)
                connection.sendall(b'HTTP/1.1 403 No\r\nContent-Length: 9\r\n\r\n{')

        thread = threading.Thread(target=half, daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        self.assert_no_answer(
            external_service_base_endpoint=f'http://127.0.0.1:{port}/', external_service_timeout=0.2
        )
        thread.join(10)
        for connection in kept:
            connection.close()
        self.assertEqual(2, len(kept))

    def test_no_server_listens(self) -> None:
        self.usage_service.go_away()
        self.assert_no_answer()

    def test_there_is_no_such_name(self) -> None:
        self.assert_no_answer(external_service_base_endpoint='http://nobody.invalid/')

    def test_an_untrusted_certificate_is_refused(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        port, pem = self.tls(folder)
        options = {'external_service_base_endpoint': f'https://127.0.0.1:{port}'}
        self.assert_no_answer(**options)
        self.filter(external_service_cafile=str(pem), **options).check_create(questions.creation())
        self.assert_no_answer(external_service_cafile=str(folder / 'missing'), **options)

    def tls(self, folder: pathlib.Path) -> tuple[int, pathlib.Path]:
        """Serve over TLS; return the port and the certificate."""
        pem, key = folder / 'cert.pem', folder / 'key.pem'
        command = ['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
        command += ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
        command += ['-keyout', str(key), '-out', str(pem)]
        subprocess.run(command, check=True, capture_output=True)
        served = self.useFixture(usage_service.UsageService())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, key)
        served.wrap(context)
        return served.port, pem


class TestAfterwards(ServiceCase):
    """How the service is notified of what it allowed."""

    def test_each_state_has_a_call(self) -> None:
        service = self.filter()
        found = service.notified_of
        self.assertEqual({ChargeState.COMMIT, ChargeState.RELEASE, ChargeState.END}, found)
        for state in (ChargeState.COMMIT, ChargeState.RELEASE, ChargeState.END):
            service.notify(self.charge(state))
        self.assertEqual(['commit', 'release', 'on-end'], self.usage_service.names)
        actual = [call.headers['idempotency-key'] for call in self.usage_service.calls]
        self.assertEqual(['q1-commit', 'q1-release', 'q1-on-end'], actual)
        self.assertEqual({'lease': {'id': 'l1'}}, self.usage_service.calls[0].body)

    def test_a_service_that_knows_one_phase(self) -> None:
        service = self.filter(external_service_two_phase=False)
        self.assertEqual({ChargeState.END}, service.notified_of)
        bare = self.filter(
            external_service_base_endpoint=None,
            external_service_two_phase=False,
            external_service_check_create_endpoint=f'{self.usage_service.url}/create',
            external_service_check_update_endpoint=f'{self.usage_service.url}/update',
        )
        self.assertEqual(frozenset(), bare.notified_of)

    def test_what_is_not_taken_comes_again(self) -> None:
        service = self.filter()
        for status in (302, 400, 403, 404, 500):
            self.usage_service.answers['commit'] = usage_service.Answer(status=status, body=b'{}')
            error = self.assertRaises(
                exceptions.Transient, service.notify, self.charge(ChargeState.COMMIT)
            )
            self.assertNotIsInstance(error, exceptions.FilterUnavailable)
            self.assertIn(str(status), error.message)
        self.usage_service.answers['commit'] = usage_service.Answer(status=200)
        service.notify(self.charge(ChargeState.COMMIT))

    def test_it_is_unavailable(self) -> None:
        self.usage_service.go_away()
        with self.assertRaises(exceptions.FilterUnavailable):
            self.filter().notify(self.charge(ChargeState.COMMIT))

    def test_what_is_kept_of_a_question_is_its_body(self) -> None:
        service = self.filter(region_name='one')
        service.check_create(questions.creation())
        noted = json.loads(json.dumps(service.note(questions.creation())))
        self.assertEqual(self.usage_service.calls[0].body, noted)

    def test_the_body_of_an_end(self) -> None:
        end = End(
            id='e1',
            terms=questions.terms(),
            ending=Ending.DELETED,
            ended_at=questions.at(600.5),
            used=questions.at(600.5) - questions.NOON,
        )
        body = self.filter().note_end(end)
        self.assertEqual('deleted', body['reason'])
        self.assertEqual('2030-01-01T12:10:00.500000', body['ended_at'])
        self.assert_has(body, used_seconds=600, lease=bodies.lease(questions.terms()))


class TestConfiguration(ServiceCase):
    """What cannot work is said at the start."""

    def complaint(self, **options: object) -> str:
        return str(self.assertRaises(ValueError, self.filter, **options))

    def test_no_service_to_ask(self) -> None:
        self.assertIn(
            'check-create, check-update, commit, on-end, release',
            self.complaint(external_service_base_endpoint=None),
        )

    def test_some_endpoints_are_missing(self) -> None:
        text = self.complaint(
            external_service_base_endpoint=None,
            external_service_check_create_endpoint=self.usage_service.url,
            external_service_two_phase=False,
        )
        self.assertTrue(text.endswith('an endpoint for check-update'), text)

    def test_the_token_is_shown_nowhere(self) -> None:
        self.assertNotIn('s3cret', repr(self.filter()._settings))
