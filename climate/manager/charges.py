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

"""Tells judges of leases what came of what they were asked, at least once and in order."""

from __future__ import annotations

import datetime
import logging
import threading
from collections.abc import Callable

from climate import exceptions
from climate.clock import Clock
from climate.db.store import Store
from climate.db.store import Transaction
from climate.domain import events
from climate.domain.charges import Charge
from climate.enforcement.gate import Gate

LOG = logging.getLogger(__name__)

# A judge that does not take something is told it again after pauses between
# these, in seconds; they are also those after which one that is away is
# looked for.
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_LONGEST_AWAY = 10.0
# Beyond that, a claim lasts for what is written between two calls.
_MARGIN = datetime.timedelta(seconds=10)


class ChargeSender:
    """Works the charges off, in a thread of its own.

    What waits for its decision for too long, for whoever asked has died, is
    taken back here.

    :param owner: this manager's name, different from every other's
    :param batch: how many are taken at one go
    :param max_sleep: the longest sleep between two looks, in seconds
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        gate: Gate,
        owner: str,
        *,
        batch: int = 5,
        max_sleep: float = 5.0,
    ) -> None:
        self._store = store
        self._clock = clock
        self._gate = gate
        self._owner = owner
        self._batch = batch
        self._max_sleep = max_sleep
        # As long as the judges may take for all of a batch; one that is slower
        # is told some twice, and knows them by their ids.
        self._lasts = gate.patience * batch + _MARGIN
        self._away = 0
        self._awake = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name='charges', daemon=True)

    def start(self) -> None:
        """Begin to work, if there is anybody to tell."""
        if self._gate.told:
            self._thread.start()

    def stop(self, timeout: float) -> None:
        """Stop; what was not told is told by another manager or the next start."""
        self._stopping = True
        self._awake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=timeout)

    def wake(self) -> None:
        """Look at once: something was written."""
        self._awake.set()

    def _run(self) -> None:
        while not self._stopping:
            self._awake.clear()
            pause = self._look()
            if self._away:
                # What is written meanwhile does not bring a judge back.
                self._sleep_through(pause)
            elif pause:
                self._awake.wait(pause)

    def _sleep_through(self, pause: float) -> None:
        while pause > 0 and not self._stopping:
            step = min(pause, 0.2)
            threading.Event().wait(step)
            pause -= step

    def _look(self) -> float:
        """Tell what is to be told; return how long to sleep, in seconds."""
        try:
            told = self.send_once()
        except exceptions.JudgeAway as error:
            self._away += 1
            if self._away == 1:
                LOG.warning('Charges wait, who is to be told is away: %s', error.message)
            return min(_FIRST_PAUSE * 2 ** min(self._away - 1, 10), _LONGEST_AWAY)
        except exceptions.DatabaseUnavailable:
            return 1.0
        except Exception:
            LOG.exception('The charges could not be told; trying again')
            return 1.0
        if self._away:
            LOG.info('Charges are taken again')
            self._away = 0
        return 0.0 if told else self._max_sleep

    def send_once(self) -> int:
        """Tell one batch.

        :returns: how many were tried
        :raises climate.exceptions.JudgeAway: if a judge could not be reached;
            what it is to be told stays
        """
        given_up = self._store.run(lambda tx: tx.charges.give_up())
        if given_up:
            LOG.warning('%d questions came to nothing: whoever asked is gone', given_up)
        tried, away = 0, None
        for judge in self._gate.told:
            until = self._clock.now() + self._lasts
            charges = self._store.run(self._claim(judge, until))
            try:
                for charge in charges:
                    tried += 1
                    self._tell(charge)
            except exceptions.JudgeAway as error:
                # The others need not wait for this one.
                self._store.run(lambda tx: tx.charges.give_back(self._owner))
                away = error
        if away is not None:
            raise away
        return tried

    def _claim(self, judge: str, until: datetime.datetime) -> Callable[[Transaction], list[Charge]]:
        return lambda tx: tx.charges.claim(self._owner, until, [judge], self._batch)

    def _tell(self, charge: Charge) -> None:
        try:
            self._gate.tell(charge)
        except exceptions.JudgeAway as error:
            self._postpone(charge, error.message, _LONGEST_AWAY)
            raise
        except exceptions.Transient as error:
            LOG.warning(
                'Lease %s: %s does not take %s: %s',
                charge.lease_id,
                charge.judge,
                charge.state,
                error.message,
            )
            self._postpone(charge, error.message)
        except Exception as error:
            LOG.exception('Lease %s: %s failed', charge.lease_id, charge.judge)
            self._postpone(charge, str(error))
        else:
            self._store.run(lambda tx: tx.charges.told(charge))

    def _postpone(self, charge: Charge, why: str, longest: float = _LONGEST_PAUSE) -> None:
        pause = events.backoff(charge.attempts + 1, _FIRST_PAUSE, longest)
        self._store.run(lambda tx: tx.charges.postpone(charge, tx.now + pause, why))
