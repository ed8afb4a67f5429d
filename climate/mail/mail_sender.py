# SPDX-License-Identifier: Apache-2.0

"""Accepts notices, and sends them in rounds.

A notice is stored first and sent later. An outage of Keystone or of the SMTP
server therefore does not block the message bus, and a process that dies loses
no notice.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import email.message
import logging
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import Final
from typing import Protocol

from climate import exceptions
from climate.clock import Clock
from climate.conf.settings import option
from climate.conf.settings import Settings
from climate.domain import events
from climate.mail import notices
from climate.mail import smtp
from climate.mail.mail_writer import MailWriter
from climate.mail.people import People
from climate.mail.people import Recipient
from climate.mail.people import Unknown
from climate.mail.spool import Entry
from climate.mail.spool import FAILED
from climate.mail.spool import Spool
from climate.messaging.subscriber import NotTaken
from climate.threads import RepeatingThread

HOUR: Final = datetime.timedelta(hours=1)


class MailRates:
    """Counts how many mails may still be sent within an hour.

    The record in the spool counts, so that a restart does not reset the limits.

    :param per_recipient: the limit for one recipient
    :param per_hour: the limit for all recipients
    :param sent_since: returns when mails were sent after an instant, oldest first,
        to one address, or to all if it is None
    """

    def __init__(
        self,
        per_recipient: int,
        per_hour: int,
        sent_since: Callable[[datetime.datetime, str | None], Sequence[datetime.datetime]],
    ) -> None:
        self._per_recipient = per_recipient
        self._per_hour = per_hour
        self._sent_since = sent_since

    def room(self, recipient: str, now: datetime.datetime) -> int:
        """Return how many mails a recipient may get now."""
        return max(min(most - len(sent) for sent, most in self._counted(recipient, now)), 0)

    def free_at(self, recipient: str, now: datetime.datetime) -> datetime.datetime:
        """Return when a recipient may get the next mail; *now* if they may now."""
        full = [(sent, most) for sent, most in self._counted(recipient, now) if len(sent) >= most]
        return max((sent[len(sent) - most] + HOUR for sent, most in full), default=now)

    def _counted(
        self, recipient: str, now: datetime.datetime
    ) -> Iterator[tuple[Sequence[datetime.datetime], int]]:
        """Yield the mails that count towards each limit, and the limit."""
        yield self._sent_since(now - HOUR, recipient), self._per_recipient
        yield self._sent_since(now - HOUR, None), self._per_hour


LOG = logging.getLogger(__name__)

_LONGEST_SLEEP = 60.0
_SHORTEST_SLEEP = 0.05
_MOST_IN_ONE = 100
_MOST_SILENT = 3


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PostSettings(Settings):
    """The intervals and limits of sending.

    :ivar defaults: notices for owners who have not chosen any
    :ivar least_before_start: how long before a start they are notified at the latest, in
        seconds
    :ivar retry_after: the first pause after a failure, in seconds; it doubles
    :ivar retry_at_most: the longest pause, in seconds
    :ivar give_up_after: seconds after which an unsent notice is abandoned
    """

    defaults: Collection[str] = option('mail', 'default_notices', tuple)
    least_before_start: int = option('mail', 'least_before_start')
    per_recipient: int = option('mail', 'per_recipient')
    per_hour: int = option('mail', 'per_hour')
    retry_after: float = option('mail', 'retry_after')
    retry_at_most: float = option('mail', 'retry_at_most')
    give_up_after: float = option('mail', 'give_up_after')

    def pause(self, attempts: int) -> datetime.timedelta:
        """Return how long to wait after so many failures, one at least."""
        return events.backoff(attempts, self.retry_after, self.retry_at_most)


class MailConnection(Protocol):
    """Takes the mails of a round."""

    def send(self, letter: email.message.EmailMessage, recipient: str) -> None:
        """Send a mail; raises as :meth:`climate.mail.smtp.Connection.send`."""


class MailServer(Protocol):
    """Where mails go: :class:`climate.mail.smtp.Smtp`, or a folder."""

    def connected(self) -> contextlib.AbstractContextManager[MailConnection]:
        """Give the body a connection."""


class MailSender:
    """Sends the notices of a spool, each once."""

    def __init__(
        self,
        *,
        spool: Spool,
        letters: MailWriter,
        people: People,
        server: MailServer,
        clock: Clock,
        settings: PostSettings,
    ) -> None:
        self._spool = spool
        self._letters = letters
        self._people = people
        self._server = server
        self._clock = clock
        self._settings = settings
        self._rates = MailRates(settings.per_recipient, settings.per_hour, spool.sent_since)
        self._away = 0
        self._not_before = clock.now()
        self._full: set[str] = set()
        # A full disk, for example, makes a step fail; no notice is lost.
        self._thread = RepeatingThread(
            'postman',
            lambda: self._sleep(self.round()),
            failure='Mails could not be sent; trying again',
            retry=min(settings.pause(1).total_seconds(), _LONGEST_SLEEP),
        )

    def start(self) -> None:
        """Start sending; returns immediately."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Stop sending; a mail under way has at most this many seconds to complete."""
        self._thread.stop(seconds)

    def take(self, envelope: Mapping[str, Any]) -> None:
        """Accept a notification.

        :raises climate.messaging.subscriber.NotTaken: if it cannot be stored
        """
        if envelope.get('event_type') not in notices.TYPES:
            return
        try:
            settings = self._settings
            notice = notices.read(envelope, settings.defaults, settings.least_before_start)
        except (KeyError, TypeError, ValueError) as error:
            LOG.error('A notification is not as Climate sends them: %r', error)
            return
        if notice is None:
            return
        try:
            if self._spool.add(notice, self._clock.now()):
                self._thread.wake()
        except OSError as error:
            raise NotTaken(str(error)) from error

    def round(self) -> datetime.datetime | None:
        """Send the notices that are due; return when the next one is due, if any.

        :raises OSError: if the spool cannot be used
        """
        now = self._clock.now()
        if now >= self._not_before:
            self._deliver(self._spool.pending(now), now)
        self._spool.forget(now)
        next_try = self._spool.next_try()
        return next_try and max(next_try, self._not_before)

    # -- one round

    def _deliver(self, due: Iterable[Entry], now: datetime.datetime) -> None:
        by_recipient: dict[Recipient, list[Entry]] = {}
        for recipient, entry in self._addressed(due, now):
            by_recipient.setdefault(recipient, []).append(entry)
        with self._server.connected() as connection:
            for recipient, entries in by_recipient.items():
                for batch in self._batches(recipient, entries, now):
                    if self._thread.stopping:
                        return
                    try:
                        self._send(connection, recipient, batch, now)
                    except smtp.ServerUnavailable as error:
                        self._server_unavailable(error, now)
                        return

    def _addressed(
        self, due: Iterable[Entry], now: datetime.datetime
    ) -> Iterator[tuple[Recipient, Entry]]:
        """Yield each notice with its recipient; postpone those without one for now."""
        known: dict[str, Recipient] = {}
        silent = 0
        for entry in due:
            user_id = entry.notice.user_id
            try:
                # A Keystone that is down is slow to fail.
                if silent == _MOST_SILENT:
                    raise exceptions.Transient('Keystone does not answer')
                if user_id not in known:
                    known[user_id] = self._people.find(user_id)
            except Unknown as error:
                self._give_up(entry, str(error))
            except exceptions.EffectError as error:
                # Also if access is denied: an operator can correct that.
                silent = min(silent + 1, _MOST_SILENT)
                self._again(entry, error.message, now)
            else:
                yield known[user_id], entry

    def _batches(
        self, recipient: Recipient, entries: list[Entry], now: datetime.datetime
    ) -> list[list[Entry]]:
        """Return the notices of each mail; the last mail has all that remain."""
        room = self._rates.room(recipient.address, now)
        if len(entries) <= room:
            self._full.discard(recipient.address)
            return [[entry] for entry in entries]
        if recipient.address not in self._full:
            self._full.add(recipient.address)
            LOG.warning(
                'More than may be sent in an hour is due for %s; the rest comes in one mail',
                recipient.address,
            )
        if not room:
            free_at = self._rates.free_at(recipient.address, now)
            for entry in entries:
                self._spool.put(dataclasses.replace(entry, next_try=free_at))
            return []
        alone = [[entry] for entry in entries[: room - 1]]
        return [*alone, entries[room - 1 :][:_MOST_IN_ONE]]

    def _send(
        self,
        connection: MailConnection,
        recipient: Recipient,
        batch: list[Entry],
        now: datetime.datetime,
    ) -> None:
        sent = [entry.notice for entry in batch]
        if len(sent) == 1:
            letter = self._letters.one(
                sent[0], recipient.address, recipient.name, now, recipient.time_zone
            )
        else:
            letter = self._letters.digest(
                sent, recipient.address, recipient.name, now, recipient.time_zone
            )
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
        self._spool.done(sent, recipient.address, letter['Message-ID'], now)
        for notice in sent:
            LOG.info('Lease %s: sent the notice %s to its owner', notice.lease_id, notice.kind)

    def _server_unavailable(self, error: smtp.ServerUnavailable, now: datetime.datetime) -> None:
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
        LOG.info(
            'Lease %s: the notice %s is postponed: %s',
            entry.notice.lease_id,
            entry.notice.kind,
            why,
        )
        next_try = now + self._settings.pause(tried)
        self._spool.put(dataclasses.replace(entry, attempts=tried, error=why, next_try=next_try))

    def _too_old(self, entry: Entry, now: datetime.datetime) -> bool:
        return (now - entry.received_at).total_seconds() > self._settings.give_up_after

    def _give_up(self, entry: Entry, why: str) -> None:
        notice = entry.notice
        LOG.error(
            'Lease %s: %s is not mailed to user %s: %s',
            notice.lease_id,
            notice.kind,
            notice.user_id,
            why,
        )
        self._spool.put(dataclasses.replace(entry, error=why), FAILED)

    # -- the thread

    def _sleep(self, next_due: datetime.datetime | None) -> float:
        if next_due is None:
            return _LONGEST_SLEEP
        left = (next_due - self._clock.now()).total_seconds()
        return min(max(left, _SHORTEST_SLEEP), _LONGEST_SLEEP)
