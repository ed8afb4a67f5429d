# SPDX-License-Identifier: Apache-2.0

"""Users of an installation, who repeat what was not answered."""

from __future__ import annotations

import collections
import datetime
import json
import random
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from typing import Any

from tests import drafts

TOKEN = 'alice:blue:member,admin'
PATIENCE = 300.0
# By type, the names of resources that a lease may have.
_REPLACEABLE = {
    'physical:host': [f'compute-{number}' for number in range(1, 7)],
    drafts.RACKS.name: ['rack-1', 'rack-2', 'rack-3'],
}
# The first request with the same key is not finished.
_BUSY = 'IDEMPOTENCY_KEY_IN_USE'
# So many users begin with one lease of each type.
_FIRST = 3
_TRIES = 5


Requests = Mapping[str, tuple[Mapping[str, Any], ...]]
"""The reservations of a lease of each type."""


class Users:
    """Users who create, change and delete leases, and repeat what was not answered.

    :ivar ports: of the API processes
    :ivar accepted: the ids of leases by the name under which they were requested
    :ivar refused: how often requests were refused, by type and status
    :ivar answers: the last answer to each name whose lease was not accepted
    :ivar reallocations: how often a resource of a lease was replaced on request
    """

    def __init__(self, requests: Requests, ports: list[int], seed: int) -> None:
        self._requests = requests
        self.ports = ports
        self._seed = seed
        self._stop = threading.Event()
        self._runs = 0
        self.accepted: dict[str, str] = {}
        self.kinds: collections.Counter[str] = collections.Counter()
        self.refused: collections.Counter[tuple[str, int]] = collections.Counter()
        self.answers: dict[str, Any] = {}
        self.reallocations = 0
        self.problems: list[str] = []

    def run(self, count: int, seconds: float) -> None:
        """Let *count* users work for so many seconds, and then finish what they began."""
        self._stop.clear()
        self._runs += 1
        threads = [threading.Thread(target=self._work, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        self._stop.wait(seconds)
        self._stop.set()
        for thread in threads:
            thread.join()

    def _work(self, number: int) -> None:
        dice = random.Random(f'{self._seed} {self._runs} {number}')
        try:
            for kind in list(self._requests)[number::_FIRST] if self._runs == 1 else ():
                # What is answered late is refused: its start has passed.
                any(self._create(dice, kind) for _ in range(_TRIES))
            while not self._stop.is_set():
                self._act(dice)
        except Exception as error:
            self.problems.append(repr(error))

    def _act(self, dice: random.Random) -> None:
        action = dice.random()
        mine = list(self.accepted.values())
        if action < 0.6 or not mine:
            self._create(dice, dice.choice(list(self._requests)))
        elif action < 0.75:
            end = later(dice.uniform(15, 40))
            self.send(dice, 'PUT', f'/leases/{dice.choice(mine)}', {'end_date': end})
        elif action < 0.9:
            self.send(dice, 'DELETE', f'/leases/{dice.choice(mine)}')
        elif action < 0.95:
            self._offer(dice)
        elif action < 0.97:
            self._reallocate(dice, dice.choice(mine))
        else:
            self._maintain(dice)

    def _create(self, dice: random.Random, kind: str) -> bool:
        name = f'{kind} {uuid.UUID(int=dice.getrandbits(128))}'
        start = dice.uniform(0, 4)
        body = {
            'name': name[:80],
            'start_date': later(start) if start > 1 else 'now',
            'end_date': later(start + dice.uniform(15, 40)),
            'reservations': [dict(one) for one in self._requests[kind]],
        }
        status, answer = self.send(dice, 'POST', '/leases', body)
        if status == 201:
            lease_id = answer['lease']['id']
            self.accepted[body['name']] = lease_id
            self.kinds[kind] += 1
            if kind in _REPLACEABLE:
                self._reallocate(dice, lease_id)
        else:
            self.refused[kind, status] += 1
            self.answers[body['name']] = answer
        return status == 201

    def _offer(self, dice: random.Random) -> None:
        body = {
            'start_date': later(3),
            'end_date': later(20),
            'reservations': [dict(self._requests['physical:host'][0])],
            'hold': 10,
        }
        status, answer = self.send(dice, 'POST', '/offers', body)
        for offer in (answer or {}).get('offers', [])[:1] if status < 300 else []:
            name = f'offered {offer["id"]}'
            taken = {'name': name, 'offer_id': offer['id']}
            status, answer = self.send(dice, 'POST', '/leases', taken)
            if status == 201:
                self.accepted[name] = answer['lease']['id']
            else:
                self.answers[name] = answer

    def _reallocate(self, dice: random.Random, lease_id: str) -> None:
        """Have another resource in place of the first that a lease has, if it can be replaced."""
        status, answer = self.send(dice, 'GET', f'/leases/{lease_id}')
        for one in answer['lease']['reservations'][:1] if status == 200 else ():
            for name in _REPLACEABLE.get(one['resource_type'], ()):
                body = {'reservation_id': one['id'], 'resource_name': name, 'reason': 'storm'}
                status, _ = self.send(dice, 'POST', f'/leases/{lease_id}/reallocate', body)
                if status == 200:
                    self.reallocations += 1
                # 404: it has others.
                if status != 404:
                    return

    def _maintain(self, dice: random.Random) -> None:
        host = dice.randint(1, 6)
        body = {'start_date': later(2), 'end_date': later(5), 'reason': 'storm'}
        self.send(dice, 'POST', f'/resources/physical:host/{host}/maintenances', body)

    def send(
        self, dice: random.Random, method: str, path: str, body: Any = None
    ) -> tuple[int, Any]:
        """Send a request until it is answered, each time with the same key."""
        key = str(uuid.UUID(int=dice.getrandbits(128)))
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            status, answer = self._try(dice.choice(self.ports), method, path, body, key)
            # What is in progress, or was lost, is repeated.
            busy = status == 409 and answer['error_name'] == _BUSY
            if status and status < 500 and status != 429 and not busy:
                return status, answer
            time.sleep(0.2)
        raise AssertionError(f'{method} {path} was not answered: {status} {answer}')

    @staticmethod
    def _try(port: int, method: str, path: str, body: Any, key: str) -> tuple[int, Any]:
        request = urllib.request.Request(
            f'http://127.0.0.1:{port}/v1{path}',
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                'Content-Type': 'application/json',
                'OpenStack-API-Version': 'reservation 1.5',
                'X-Auth-Token': TOKEN,
                'Idempotency-Key': key,
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text, status = answer.read(), answer.status
        except urllib.error.HTTPError as error:
            text, status = error.read(), error.code
        except OSError as error:
            return 0, str(error)
        return status, json.loads(text) if text else None

    def delete_all(self) -> None:
        """Delete every lease that was accepted."""
        dice = random.Random(self._seed)
        for lease_id in self.accepted.values():
            status, answer = self.send(dice, 'DELETE', f'/leases/{lease_id}')
            if status not in (204, 404):
                self.problems.append(f'DELETE of {lease_id}: {status} {answer}')


def later(seconds: float) -> str:
    """Return a time so many seconds from now, for a request."""
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)).isoformat()
