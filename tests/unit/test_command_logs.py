# SPDX-License-Identifier: Apache-2.0

"""No text that comes from outside writes a line of a log of its own."""

from __future__ import annotations

import io
import json
import logging
import re
import uuid
from typing import Any

from oslo_context.fixture import ClearRequestContext
from oslo_log import formatters

from climate.cmd import config
from climate.cmd import logs
from climate.context import WorkContext
from climate.context import Working
from climate.domain.origins import RequestOrigin
from tests import base
from tests import settings
from tests.functional import http
from tests.functional.fixtures import Service

EVIL = 'a\nb\rc\x1b[2Jd\x85e\x9bf\u2028g\u202eh\x00\udc80i\x7f\u061c\u200f\u2060\ufeff\U000e0041'
HARMLESS = re.compile(r'[\x20-\x7e]*')


class LogsTest(base.TestCase):
    """Loggers with a handler of their own."""

    def setUp(self) -> None:
        super().setUp()
        # That of a request of another test in this thread.
        self.useFixture(ClearRequestContext())
        self.addCleanup(logging.setLogRecordFactory, logging.getLogRecordFactory())
        # Handlers of the test runner are left as they are.
        self.kept = [(handler, handler.formatter) for handler in logging.getLogger().handlers]
        self.addCleanup(self.put_back)
        self.text = io.StringIO()

    def put_back(self) -> None:
        """Give handlers their formatters back."""
        for handler, formatter in self.kept:
            handler.setFormatter(formatter)

    def logger(self, formatter: logging.Formatter | None, name: str = 'evil') -> logging.Logger:
        """Return a logger that writes with a formatter."""
        handler = logging.StreamHandler(self.text)
        handler.setFormatter(formatter)
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        self.addCleanup(logger.setLevel, logging.NOTSET)
        self.addCleanup(logger.removeHandler, handler)
        logs.prepare()
        return logger

    def line(self) -> str:
        """Return the only line that was written."""
        text = self.text.getvalue()
        self.assertEqual('\n', text[-1])
        self.assertTrue(HARMLESS.fullmatch(text[:-1]), ascii(text))
        return text[:-1]

    def every(self) -> list[logging.Formatter | None]:
        """Return each formatter that a configuration can choose."""
        conf = settings.configured()
        return [None, formatters.ContextFormatter(config=conf), formatters.JSONFormatter()]

    def test_messages(self) -> None:
        for number, formatter in enumerate(self.every()):
            self.text.truncate(0)
            self.text.seek(0)
            self.logger(formatter, f'evil{number}').info('for %s ' + EVIL, EVIL)
            self.assertIn('x1b[2J', self.line())

    def test_json_stays_json(self) -> None:
        self.logger(formatters.JSONFormatter()).info('%s', EVIL)
        self.assertIn('\\x1b', json.loads(self.line())['message'])

    def test_whatever_else_a_format_shows(self) -> None:
        logger = self.logger(logging.Formatter('%(user)s %(message)s'))
        logger.info('x', extra={'user': 'alice\x1b[2J\x9b'})
        self.assertEqual(r'alice\x1b[2J\x9b x', self.line())

    def test_tracebacks_keep_their_lines(self) -> None:
        conf = settings.configured()
        try:
            raise ValueError(EVIL)
        except ValueError:
            self.logger(formatters.ContextFormatter(config=conf)).exception('it failed')
        for line in self.text.getvalue().splitlines():
            self.assertTrue(HARMLESS.fullmatch(line), ascii(line))
            self.assertRegex(line, r'^(\d{4}-\d\d-\d\d .* ERROR evil|$)')

    def test_what_is_being_handled(self) -> None:
        conf = settings.configured()
        try:
            raise OSError(EVIL)
        except OSError:
            self.logger(formatters.ContextFormatter(config=conf), 'evil4').warning('it failed')
        self.assertIn('OSError', self.line())

    def test_the_handled_request_is_logged_once(self) -> None:
        logger = self.logger(formatters.ContextFormatter(config=settings.configured()), 'evil5')
        for said, extra, ending in (
            ('it failed: no route to Nova', {}, 'it failed: no route to Nova'),
            ('it failed', {'complete': True}, 'it failed'),
            ('another', {}, 'another: RuntimeError: no route to Nova'),
        ):
            self.text.truncate(0)
            self.text.seek(0)
            try:
                raise RuntimeError('no route to Nova')
            except RuntimeError:
                logger.warning(said, extra=extra)
            self.assertTrue(self.line().endswith(f'] {ending}'), self.line())

    def test_a_line_is_about_the_first_lease_that_it_names(self) -> None:
        first, other = (str(uuid.uuid4()) for _ in range(2))
        logger = self.logger(formatters.JSONFormatter(), 'waits')
        with Working(WorkContext(first, origin=RequestOrigin(request_id='req-1'))):
            logger.info('Lease %s: waits for compute-1, which lease %s has', first, other)
        fields = json.loads(self.line())['extra']
        self.assertEqual((first, 'req-1'), (fields['lease_id'], fields['request_id']))

    def test_requests(self) -> None:
        service = self.useFixture(Service(hosts=0))
        self.logger(None, 'climate.api.access_log')
        forged = '/v1/leases%0a2030-01-01%20INFO%20GET%20/v1/leases%1b[2J%c2%9b/%C3%BC'
        http.send(service.app, 'GET', forged, headers={'X-Forwarded-For': '203.0.113.5'})
        line = self.text.getvalue()
        self.assertEqual(1, line.count('\n'))
        self.assertRegex(
            line, r'^- GET /v1/leases\\n2030.*leases\\x1b\[2J\\x9b/ü 404 0\.\d+ s NOT_FOUND$'
        )

    def test_the_address_of_the_client(self) -> None:
        service = self.useFixture(Service(hosts=0))
        self.logger(None, 'climate.api.access_log')
        self.send(service, '127.0.0.1')
        self.send(service, '198.51.100.7')
        found = [line.split()[0] for line in self.text.getvalue().splitlines()]
        self.assertEqual(['203.0.113.5', '198.51.100.7'], found)

    def send(self, service: Service, peer: str) -> None:
        """Send a request with a header of a proxy."""
        request: Any = http.webob.Request.blank(
            '/', headers={'X-Forwarded-For': '203.0.113.5'}, remote_addr=peer
        )
        request.get_response(service.app)


class SetUpTest(base.TestCase):
    """All processes log so."""

    def test_by_whatever_configuration(self) -> None:
        factory = logging.getLogRecordFactory()
        root = logging.getLogger()
        handlers, level = list(root.handlers), root.level
        self.addCleanup(logging.setLogRecordFactory, factory)
        self.addCleanup(root.setLevel, level)
        self.addCleanup(root.handlers.__setitem__, slice(None), handlers)
        config.set_up_logging(settings.configured(), 'climate-api')
        self.assertIs(logs.Record, logging.getLogRecordFactory())
        self.assertEqual({logs.Escaping}, {type(handler.formatter) for handler in root.handlers})
