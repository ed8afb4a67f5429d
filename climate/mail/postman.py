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

"""Takes notices in, and sends them in rounds.

Taking one in is writing it down; whether it can be sent is seen afterwards. So
neither Keystone nor the SMTP server, when they are away, hold up the message
bus, and a process that dies has lost nothing.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import threading
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clock import Clock
from climate.mail import notices
from climate.mail import smtp
from climate.mail.letters import Letters
from climate.mail.people import People
from climate.mail.people import Recipient
from climate.mail.people import Unknown
from climate.mail.rates import HOUR
from climate.mail.rates import Rates
from climate.mail.spool import Entry
from climate.mail.spool import Sent
from climate.mail.spool import Spool
from climate.messaging.subscriber import NotTaken

LOG = logging.getLogger(__name__)

_LONGEST_SLEEP = 60.0
_SHORTEST_SLEEP = 0.05
_MOST_IN_ONE = 100
_MOST_SILENT = 3


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PostSettings:
    """How often, how long, how much.

    :ivar defaults: notices for owners who have not said which they want
    :ivar retry_after: the first pause after a failure, in seconds; it doubles
    :ivar retry_at_most: the longest pause, in seconds
    :ivar give_up_after: seconds after which a notice is put aside
    """

    defaults: Collection[str] = ('before_end', 'degraded', 'error')
    per_recipient: int = 20
    per_hour: int = 1000
    retry_after: float = 30.0
    retry_at_most: float = 1800.0
    give_up_after: float = 86400.0

    @classmethod
    def from_conf(cls, conf: Any) -> PostSettings:
        """Return the settings that *conf* (an oslo.config ConfigOpts) holds."""
        group = conf.mail
        return cls(
            defaults=tuple(group.default_notices),
            per_recipient=group.per_recipient,
            per_hour=group.per_hour,
            retry_after=group.retry_after,
            retry_at_most=group.retry_at_most,
            give_up_after=group.give_up_after,
        )

    def pause(self, attempts: int) -> datetime.timedelta:
        """Return how long to wait after so many failures, one at least."""
        doubled = self.retry_after * 2.0 ** min(attempts - 1, 30)
        return datetime.timedelta(seconds=min(doubled, self.retry_at_most))


class Postman:
    """Sends the notices of a spool, each once."""

    def __init__(
        self,
        *,
        spool: Spool,
        letters: Letters,
        people: People,
        server: smtp.Smtp,
        clock: Clock,
        settings: PostSettings,
    ) -> None:
        self._spool = spool
        self._letters = letters
        self._people = people
        self._server = server
        self._clock = clock
        self._settings = settings
        now = clock.now()
        self._rates = Rates(settings.per_recipient, settings.per_hour, spool.sent_since(now - HOUR))
        self._away = 0
        self._not_before = now
        self._tidied = now - HOUR
        self._full: set[str] = set()
        self._news = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name='postman', daemon=True)

    def start(self) -> None:
        """Begin to send; returns at once."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Send no more; what is on its way has so many seconds to get there."""
        self._stopping.set()
        self._news.set()
        self._thread.join(seconds)

    def take(self, envelope: Mapping[str, Any]) -> None:
        """Take a notification in.

        :raises climate.messaging.subscriber.NotTaken: if it cannot be written down
        """
        if envelope.get('event_type') not in notices.KINDS:
            return
        try:
            notice = notices.read(envelope, self._settings.defaults)
        except (KeyError, TypeError, ValueError) as error:
            LOG.error('A notification is not as Climate sends them: %r', error)
            return
        if notice is None:
            return
        try:
            new = self._spool.add(notice, self._clock.now())
        except OSError as error:
            raise NotTaken(str(error)) from error
        if new:
            self._news.set()

    def round(self) -> datetime.datetime | None:
        """Send what is due; return when something is due again, None if nothing is.

        :raises OSError: if the spool cannot be used
        """
        now = self._clock.now()
        if now >= self._not_before:
            self._deliver([one for one in self._spool.pending() if one.next_try <= now], now)
        if now >= self._tidied + HOUR:
            self._spool.forget(now)
            self._tidied = now
        waiting = self._spool.pending()
        return min((max(one.next_try, self._not_before) for one in waiting), default=None)

    # -- one round

    def _deliver(self, due: Iterable[Entry], now: datetime.datetime) -> None:
        by_recipient: dict[Recipient, list[Entry]] = {}
        for recipient, entry in self._addressed(due, now):
            by_recipient.setdefault(recipient, []).append(entry)
        with self._server.connected() as connection:
            for recipient, entries in by_recipient.items():
                for batch in self._batches(recipient, entries, now):
                    if self._stopping.is_set():
                        return
                    try:
                        self._send(connection, recipient, batch, now)
                    except smtp.Away as error:
                        self._server_is_away(error, now)
                        return

    def _addressed(
        self, due: Iterable[Entry], now: datetime.datetime
    ) -> Iterator[tuple[Recipient, Entry]]:
        """Yield whom each goes to; keep for later what that is not known of now."""
        known: dict[str, Recipient] = {}
        silent = 0
        for entry in due:
            user_id = entry.notice.user_id
            try:
                # A Keystone that is away takes its time to say so.
                if silent == _MOST_SILENT:
                    raise exceptions.Transient('Keystone does not answer')
                if user_id not in known:
                    known[user_id] = self._people.find(user_id)
            except Unknown as error:
                self._give_up(entry, str(error))
            except exceptions.EffectError as error:
                # Also one that does not let us look: an operator can mend that.
                silent = min(silent + 1, _MOST_SILENT)
                self._again(entry, error.message, now)
            else:
                yield known[user_id], entry

    def _batches(
        self, recipient: Recipient, entries: list[Entry], now: datetime.datetime
    ) -> list[list[Entry]]:
        """Return what goes out in a mail each; the last of them takes the rest."""
        room = self._rates.room(recipient.address, now)
        if len(entries) <= room:
            self._full.discard(recipient.address)
            return [[entry] for entry in entries]
        if recipient.address not in self._full:
            self._full.add(recipient.address)
            LOG.warning(
                'More than may be sent in an hour is to be told to %s; the rest comes in one mail',
                recipient.address,
            )
        if not room:
            for entry in entries:
                free_at = self._rates.free_at(recipient.address, now)
                self._spool.put(dataclasses.replace(entry, next_try=free_at))
            return []
        alone = [[entry] for entry in entries[: room - 1]]
        return [*alone, entries[room - 1 :][:_MOST_IN_ONE]]

    def _send(
        self,
        connection: smtp.Connection,
        recipient: Recipient,
        batch: list[Entry],
        now: datetime.datetime,
    ) -> None:
        told = [entry.notice for entry in batch]
        if len(told) == 1:
            letter = self._letters.one(told[0], recipient.address, recipient.name, now)
        else:
            letter = self._letters.digest(told, recipient.address, recipient.name, now)
        try:
            connection.send(letter, recipient.address)
        except smtp.Refused as error:
            for entry in batch:
                self._give_up(entry, str(error))
            return
        except smtp.Deferred as error:
            for entry in batch:
                self._again(entry, str(error), now)
            return
        if self._away:
            LOG.info('The SMTP server takes mails again')
        self._away = 0
        sent = Sent(at=now, recipient=recipient.address, message_id=letter['Message-ID'])
        self._rates.count(sent)
        for notice in told:
            self._spool.done(notice, sent)
            LOG.info('Lease %s: %s was told to its owner', notice.lease_id, notice.kind)

    def _server_is_away(self, error: smtp.Away, now: datetime.datetime) -> None:
        self._away += 1
        self._not_before = now + self._settings.pause(self._away)
        level = logging.WARNING if self._away == 1 else logging.INFO
        LOG.log(level, 'The SMTP server takes no mails: %s; all are kept', error)
        for entry in self._spool.pending():
            if self._too_old(entry, now):
                self._give_up(entry, f'the SMTP server takes no mails: {error}')

    def _again(self, entry: Entry, why: str, now: datetime.datetime) -> None:
        if self._too_old(entry, now):
            self._give_up(entry, why)
            return
        tried = entry.attempts + 1
        LOG.info('Lease %s: %s is told later: %s', entry.notice.lease_id, entry.notice.kind, why)
        next_try = now + self._settings.pause(tried)
        self._spool.put(dataclasses.replace(entry, attempts=tried, error=why, next_try=next_try))

    def _too_old(self, entry: Entry, now: datetime.datetime) -> bool:
        return (now - entry.received_at).total_seconds() > self._settings.give_up_after

    def _give_up(self, entry: Entry, why: str) -> None:
        notice = entry.notice
        LOG.error(
            'Lease %s: %s is not told to user %s: %s',
            notice.lease_id,
            notice.kind,
            notice.user_id,
            why,
        )
        self._spool.give_up(dataclasses.replace(entry, error=why))

    # -- the thread

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._news.clear()
            try:
                next_due = self.round()
            except Exception:
                # A full disk, for one. All is still where it was.
                LOG.exception('Mails could not be sent; trying again')
                next_due = self._clock.now() + self._settings.pause(1)
            self._news.wait(self._sleep(next_due))

    def _sleep(self, next_due: datetime.datetime | None) -> float:
        if next_due is None:
            return _LONGEST_SLEEP
        left = (next_due - self._clock.now()).total_seconds()
        return min(max(left, _SHORTEST_SLEEP), _LONGEST_SLEEP)
