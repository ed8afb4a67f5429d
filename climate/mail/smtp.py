# SPDX-License-Identifier: Apache-2.0

"""Hands mails to an SMTP server.

If the server answers 5xx, the mail is abandoned; after a 4xx, or no answer, it is
tried again. It is also tried again if the login or the encryption fails or the
server refuses the sender, because an operator can correct these settings.
"""

from __future__ import annotations

import contextlib
import dataclasses
import email.message
import logging
import pathlib
import smtplib
import ssl
from collections.abc import Iterator
from typing import Any
from typing import Final

from climate import exceptions
from climate.conf import mail as options
from climate.conf.settings import as_path
from climate.conf.settings import as_text
from climate.conf.settings import option
from climate.conf.settings import Settings
from climate.conf.settings import values
from climate.domain.addresses import is_loopback
from climate.exceptions import texts

LOG = logging.getLogger(__name__)

_PERMANENT: Final = 500
# About the login and the encryption: nothing is wrong with the mail.
_ABOUT_US: Final = frozenset({530, 534, 535, 538})


class ServerUnavailable(Exception):
    """The server accepts no mail at present."""


class Deferred(Exception):
    """The server does not accept this mail at present."""


class Refused(Exception):
    """The server has rejected this mail permanently."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SmtpSettings(Settings):
    """The address of the server, and the security of the connection.

    :ivar security: ``none``, ``starttls`` or ``tls``
    :ivar timeout: for each response, in seconds
    """

    host: str = option('mail', 'host')
    port: int = option('mail', 'port')
    sender: str = option('mail', 'sender')
    security: str = option('mail', 'security')
    cafile: str | None = option('mail', 'cafile')
    username: str = option('mail', 'username', as_text)
    password_file: pathlib.Path | None = option('mail', 'password_file', as_path, secret=True)
    timeout: float = option('mail', 'timeout')

    @classmethod
    def from_conf(cls, conf: Any) -> SmtpSettings:
        """Return the settings that *conf* (an oslo.config ConfigOpts) holds.

        :raises climate.exceptions.ConfigurationError: if they are not valid
        """
        group = conf.mail
        if bool(group.username) != bool(group.password_file):
            raise exceptions.ConfigurationError('[mail] username and password_file belong together')
        if group.username and group.security == options.NONE and not is_loopback(group.host):
            LOG.warning(
                '[mail] security is none: the password goes to %s in clear text; '
                'set starttls or tls',
                group.host,
            )
        return cls(**values(cls, conf))


class Smtp:
    """An SMTP server; one connection for each round of mails.

    :raises climate.exceptions.ConfigurationError: if ``cafile`` cannot be read
    """

    def __init__(self, settings: SmtpSettings) -> None:
        self._settings = settings
        self._context: ssl.SSLContext | None = None
        if settings.security != options.NONE:
            try:
                self._context = ssl.create_default_context(cafile=settings.cafile)
            except OSError as error:
                raise exceptions.ConfigurationError(f'[mail] cafile: {error}') from error

    @contextlib.contextmanager
    def connected(self) -> Iterator[Connection]:
        """Give the body a connection, opened by the first mail."""
        made = Connection(self._settings, self._context)
        try:
            yield made
        finally:
            made.close()


class Connection:
    """A connection to the server, for one thread."""

    def __init__(self, settings: SmtpSettings, context: ssl.SSLContext | None) -> None:
        self._settings = settings
        self._context = context
        self._smtp: smtplib.SMTP | None = None

    def send(self, letter: email.message.EmailMessage, recipient: str) -> None:
        """Send a mail.

        :raises ServerUnavailable: if the server is unavailable
        :raises Deferred: if the server defers this mail
        :raises Refused: if the server rejects this mail
        """
        smtp = self._opened()
        try:
            smtp.send_message(letter, self._settings.sender, [recipient])
        except smtplib.SMTPRecipientsRefused as error:
            ((code, text),) = error.recipients.values()
            raise _classified(code, text) from None
        except smtplib.SMTPDataError as error:
            raise _classified(error.smtp_code, error.smtp_error) from None
        except (OSError, smtplib.SMTPException) as error:
            self.close()
            raise ServerUnavailable(_why(error)) from None

    def close(self) -> None:
        """Close the connection, if there is one."""
        smtp, self._smtp = self._smtp, None
        if smtp is not None:
            with contextlib.suppress(OSError, smtplib.SMTPException):
                smtp.quit()
            smtp.close()

    def _opened(self) -> smtplib.SMTP:
        if self._smtp is None:
            try:
                self._smtp = self._open()
            except (OSError, ValueError, smtplib.SMTPException) as error:
                raise ServerUnavailable(_why(error)) from None
        return self._smtp

    def _open(self) -> smtplib.SMTP:
        settings = self._settings
        if settings.security == options.TLS:
            assert self._context is not None
            smtp: smtplib.SMTP = smtplib.SMTP_SSL(
                settings.host, settings.port, timeout=settings.timeout, context=self._context
            )
        else:
            smtp = smtplib.SMTP(settings.host, settings.port, timeout=settings.timeout)
        try:
            if settings.security == options.STARTTLS:
                smtp.starttls(context=self._context)
            if settings.password_file is not None:
                password = settings.password_file.read_text(encoding='utf-8').rstrip('\r\n')
                smtp.login(settings.username, password)
        except BaseException:
            smtp.close()
            raise
        return smtp


def _classified(code: int, text: bytes | str) -> ServerUnavailable | Deferred | Refused:
    said = text.decode('utf-8', 'replace') if isinstance(text, bytes) else text
    kind: type[ServerUnavailable | Deferred | Refused] = Refused if code >= _PERMANENT else Deferred
    if code in _ABOUT_US:
        kind = ServerUnavailable
    return kind(f'{code} {texts.clean(" ".join(said.split()))}')


def _why(error: Exception) -> str:
    # The response to a login may quote the credentials.
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f'it refuses the login ({error.smtp_code})'
    text = texts.clean(' '.join(str(error).split()))
    return f'{type(error).__name__}: {text}' if text else type(error).__name__
