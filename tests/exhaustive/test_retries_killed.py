# SPDX-License-Identifier: Apache-2.0

"""A process is killed at each step of a request with a key; the request is sent again.

A step is a statement or a commit. However far the first process came, there is one lease
afterwards, and both repetitions get it.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from testtools import content

from climate.clock import SystemClock
from climate.cmd import composition
from tests import base
from tests import services
from tests.functional import http
from tests.functional import racers
from tests.functional.race_case import create
from tests.functional.race_case import RaceCase
from tests.functional.racers import Request

_context = multiprocessing.get_context('forkserver')
_SECONDS = 180.0
# The lease and its reservation, allocation and events, and the key before and afterwards.
_LEAST_STEPS = 15
_LONG_AGO = sa.text("UPDATE idempotency_keys SET claim_until = '2001-01-01 00:00:00.000000'")
_COUNT = sa.text('SELECT count(*) FROM leases WHERE name = :name')


def send(core: composition.Core, request: Request) -> Any:
    """Send a request to an API of this process."""
    absent: Any = None
    app = composition.api(core, registry=absent, wake=lambda _: None, health={})
    return http.send(
        app,
        request.method,
        request.path,
        request.body,
        version=request.version,
        headers=dict(request.headers),
    )


def _live(url: str, request: Request, step: int) -> None:
    """Send a request, and die at a step of it."""
    core = composition.core(racers.configuration(url), SystemClock())
    steps = 0

    def mortal(*_: Any) -> None:
        nonlocal steps
        steps += 1
        if steps == step:
            os.kill(os.getpid(), signal.SIGKILL)

    # A transaction has connected by then.
    core.store.ping()
    event.listen(core.store.engine, 'before_cursor_execute', mortal)
    event.listen(core.store.engine, 'commit', mortal)
    send(core, request)


@services.on_each_engine(base.TestCase)
class _Killed(RaceCase):
    """One host, and one process after the other."""

    def keyed(self, step: int) -> Request:
        """Return a request of its own for each step."""
        return dataclasses.replace(
            create(step, step + 1, name=str(step)),
            version='1.4',
            headers={'Idempotency-Key': f'of step {step}'},
        )

    def killed(self, request: Request, step: int) -> bool:
        """Have another process send a request; return whether it was killed."""
        url = self.store.engine.url.render_as_string(hide_password=False)
        process = _context.Process(target=_live, args=(url, request, step), daemon=True)
        process.start()
        process.join(_SECONDS)
        self.assertIn(process.exitcode, (0, -signal.SIGKILL))
        return process.exitcode != 0

    def test_at_each_step(self) -> None:
        core = composition.core(
            racers.configuration(self.store.engine.url.render_as_string(hide_password=False)),
            SystemClock(),
        )
        self.addCleanup(core.store.close)
        step, replayed = 1, 0
        while self.killed(self.keyed(step), step):
            with self.store.engine.begin() as connection:
                connection.execute(_LONG_AGO)
            answers = [send(core, self.keyed(step)) for _ in range(2)]
            where = f'killed at step {step}'
            self.assertEqual([201, 201], [one.status_int for one in answers], where)
            self.assertEqual(answers[0].body, answers[1].body, where)
            with self.store.engine.connect() as connection:
                found = connection.execute(_COUNT, {'name': str(step)}).scalar_one()
            self.assertEqual(1, found, where)
            replayed += answers[0].headers.get('Idempotency-Replayed') == 'true'
            step += 1
        self.addDetail('steps', content.text_content(f'killed {step - 1} times'))
        self.assertGreater(step, _LEAST_STEPS)
        self.assertEqual(0, self.overlaps())
        # Its answer is stored by the last commit only.
        self.assertEqual(0, replayed)
