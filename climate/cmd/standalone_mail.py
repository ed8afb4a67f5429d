# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The mails of ``climate-standalone``, which are files."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Final

from oslo_config import cfg

from climate.clients.protocols.members import User
from climate.clock import Clock
from climate.conf import mail as options
from climate.mail.folder import MailFolder
from climate.mail.letters import Letters
from climate.mail.letters import LetterSettings
from climate.mail.people import People
from climate.mail.postman import Postman
from climate.mail.postman import PostSettings
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
        self._postman: Postman | None = None

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
        self._postman = Postman(
            spool=self._spool,
            letters=Letters(LetterSettings.from_conf(self._conf)),
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
