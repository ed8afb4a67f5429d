# SPDX-License-Identifier: Apache-2.0

"""A real SMTP server that refuses and delays on request."""

from __future__ import annotations

import email
import email.message
import email.policy
import pathlib
import ssl
from typing import Any

import fixtures
from aiosmtpd import controller
from aiosmtpd import smtp

from tests import certificates
from tests.functional.processes import free_port

USER, PASSWORD = 'climate', 'k33p out'


class Handler:
    """Accepts mails, or sends the replies that a test sets.

    :ivar answers: said to the next mails in place of taking them, by command:
        ``RCPT`` and ``DATA``
    :ivar forget: so many mails are taken, and the connection is cut before it is said
    """

    def __init__(self) -> None:
        self.letters: list[email.message.EmailMessage] = []
        self.recipients: list[str] = []
        self.answers: dict[str, list[str]] = {'RCPT': [], 'DATA': []}
        self.forget = 0
        self.connections = 0

    async def handle_EHLO(
        self, _server: Any, session: Any, envelope: Any, hostname: str, responses: list[str]
    ) -> list[str]:
        self.connections += 1
        session.host_name = hostname
        return responses

    async def handle_RCPT(
        self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any
    ) -> str:
        if self.answers['RCPT']:
            return self.answers['RCPT'].pop(0)
        envelope.rcpt_tos.append(address)
        return '250 OK'

    async def handle_DATA(self, server: Any, _session: Any, envelope: Any) -> str:
        if self.answers['DATA']:
            return self.answers['DATA'].pop(0)
        found = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert isinstance(found, email.message.EmailMessage)
        self.letters.append(found)
        self.recipients += envelope.rcpt_tos
        if self.forget:
            self.forget -= 1
            server.transport.abort()
        return '250 OK'

    @property
    def subjects(self) -> list[str]:
        """The subjects of the mails that were taken."""
        return [str(letter['Subject']) for letter in self.letters]


class SmtpServer(fixtures.Fixture):
    """An SMTP server.

    :param security: ``none``, ``starttls`` or ``tls``
    :param login: whether only those who log in may send
    :ivar cafile: of its certificate, if it has one
    """

    def __init__(self, security: str = 'none', *, login: bool = False) -> None:
        super().__init__()
        self._security = security
        self._login = login
        self.handler = Handler()
        self.port = free_port()
        self.cafile = ''
        self._controller: controller.Controller | None = None

    def _setUp(self) -> None:
        # It does not see that its connections are encrypted already.
        known = {'action': 'ignore', 'message': 'Requiring AUTH while not'}
        self.useFixture(fixtures.WarningsFilter([known]))
        self._context = None if self._security == 'none' else self._certified()
        self.addCleanup(self.close)
        self.open()

    def open(self) -> None:
        """Begin to answer."""
        options: dict[str, Any] = {}
        if self._security == 'tls':
            options['ssl_context'] = self._context
        if self._security == 'starttls':
            options |= {'tls_context': self._context, 'require_starttls': True}
        if self._login:
            options |= {
                'authenticator': _authenticate,
                'auth_required': True,
                'auth_require_tls': self._security != 'tls',
            }
        self._controller = controller.Controller(
            self.handler, hostname='127.0.0.1', port=self.port, **options
        )
        self._controller.start()

    def close(self) -> None:
        """Answer nobody any more."""
        if self._controller is not None:
            self._controller.stop()
        self._controller = None

    def _certified(self) -> ssl.SSLContext:
        certificate = certificates.make(pathlib.Path(self.useFixture(fixtures.TempDir()).path))
        self.cafile = str(certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        return context


def _authenticate(_server: Any, _session: Any, _envelope: Any, _kind: str, data: Any) -> Any:
    good = (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return smtp.AuthResult(success=good)
