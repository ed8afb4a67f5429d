# SPDX-License-Identifier: Apache-2.0

"""The mails of ``climate-standalone``, which are files."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Final

from oslo_config import cfg

from climate.clock import Clock
from climate.cloud.protocols.members import User
from climate.conf import mail as options
from climate.mail.folder import MailFolder
from climate.mail.mail_sender import MailSender
from climate.mail.mail_sender import PostSettings
from climate.mail.mail_writer import LetterSettings
from climate.mail.mail_writer import MailWriter
from climate.mail.people import People
from climate.mail.spool import Spool
from climate.messaging.publisher import BrokerUnavailable
from climate.messaging.publisher import envelope
from climate.messaging.publisher import OutboxMessage
from climate.messaging.subscriber import NotTaken

FOLDER: Final = 'mail'

_SPOOL: Final = 'spool'
_DOMAIN: Final = 'localhost'


def set_defaults(conf: cfg.ConfigOpts) -> None:
    """Set options of mails for trials, which files of the user override."""
    conf.set_default('default_notices', list(options.KINDS), group=options.GROUP)
    # Trial leases last minutes.
    conf.set_default('least_before_start', 0, group=options.GROUP)


class StandaloneMails:
    """Writes the mails to owners of leases to files; a publisher of notifications.

    :param state: the state directory
    :raises climate.exceptions.ConfigurationError: if the folder of notices cannot be used
    :raises OSError: if the folder of mails cannot be created
    """

    def __init__(self, conf: cfg.ConfigOpts, state: pathlib.Path, clock: Clock) -> None:
        self._conf = conf
        self._clock = clock
        self._folder = MailFolder(state / FOLDER, clock)
        self._spool = Spool(state / _SPOOL)
        self._postman: MailSender | None = None

    @property
    def path(self) -> pathlib.Path:
        """The folder of the mails."""
        return self._folder.path

    def start(self, url: str) -> None:
        """Begin to write mails; returns at once.

        :param url: of the service
        :raises climate.exceptions.ConfigurationError: if options of mails are wrong
        """
        self._conf.set_default('page_url', f'{url}/ui', group=options.GROUP)
        self._conf.set_default('api_url', url, group=options.GROUP)
        self._postman = MailSender(
            spool=self._spool,
            letters=MailWriter(LetterSettings.from_conf(self._conf)),
            people=People(_AllUsers()),
            server=self._folder,
            clock=self._clock,
            settings=PostSettings.from_conf(self._conf),
        )
        self._postman.start()

    def publish(self, messages: Sequence[OutboxMessage]) -> None:
        """Have mails written for notifications that owners receive.

        :raises climate.messaging.publisher.BrokerUnavailable: if a notice cannot be kept
        """
        if self._postman is None:
            raise BrokerUnavailable('Mails are not written yet')
        for message in messages:
            try:
                self._postman.take(envelope(message, ''))
            except NotTaken as error:
                raise BrokerUnavailable(str(error)) from None

    def close(self) -> None:
        """Stop writing, and release the folder of notices."""
        if self._postman is not None:
            self._postman.stop(1.0)
        self._spool.close()


class _AllUsers:
    """A directory in which all users exist, since the service verifies none."""

    def find_user(self, user_id: str) -> User | None:
        """Return a user with an address."""
        return User(id=user_id, name=user_id, enabled=True, email=f'{user_id}@{_DOMAIN}')
