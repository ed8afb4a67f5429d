# SPDX-License-Identifier: Apache-2.0
"""How the workers of a manager are shared by the webhooks that have something to send.

A receiver that accepts connections and never answers holds a worker until the time limit, so
no project and no receiver gets more than a share of the workers. Webhooks whose last event
was not accepted, or took long, and those that have not been tried yet, get smaller shares,
and together half of the workers: what was accepted quickly never waits for them. Those whose
last attempt is the longest ago come first, however long the backlog of others is.

All of this is in the memory of a manager. After a restart, all webhooks are new to it.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import urllib.parse
from collections.abc import Collection
from collections.abc import Iterator
from typing import Final

from climate.domain.webhooks import Webhook

AT_ONCE: Final = 2
"""How many events a manager sends to one webhook at the same time."""

SLOW: Final = 2.0
"""After how many seconds an accepted event counts as slow."""

# Of the workers, for one project or one receiver, at least.
_LEAST: Final = 2
# Forgetting one only makes it new again.
_MOST_KNOWN: Final = 10_000


@dataclasses.dataclass(frozen=True, slots=True)
class DueWebhook:
    """A webhook with something to send."""

    id: str
    project_id: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """An attempt in progress.

    :ivar good: whether the last event of the webhook was accepted quickly
    :ivar begun: by the monotonic clock
    """

    webhook: Webhook
    good: bool
    begun: float


@dataclasses.dataclass(slots=True)
class _Usage:
    """What runs for a webhook, a project or a receiver."""

    running: int = 0
    tried_at: float = -math.inf
    good: bool = False


class WebhookShares:
    """The workers in use, and what the last attempts have shown. For one thread.

    :param workers: of the manager
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._webhooks: dict[str, _Usage] = collections.defaultdict(_Usage)
        self._projects: dict[str, _Usage] = collections.defaultdict(_Usage)
        self._receivers: dict[str, _Usage] = collections.defaultdict(_Usage)
        self._doubtful = 0

    def ordered(self, due: Collection[DueWebhook]) -> list[DueWebhook]:
        """Return webhooks: first the projects, and of each the webhooks, tried longest ago."""
        return sorted(due, key=self._tried)

    def _tried(self, one: DueWebhook) -> tuple[float, float]:
        project, webhook = self._projects.get(one.project_id), self._webhooks.get(one.id)
        return (
            -math.inf if project is None else project.tried_at,
            -math.inf if webhook is None else webhook.tried_at,
        )

    def allows(self, one: DueWebhook) -> bool:
        """Whether an attempt may begin, as far as its receiver permits it."""
        webhook, project = self._webhooks.get(one.id), self._projects.get(one.project_id)
        good = webhook is not None and webhook.good
        return (
            (good or self._doubtful < max(1, self._workers // 2))
            and (webhook is None or webhook.running < (AT_ONCE if good else 1))
            and (project is None or project.running < self._share(good=good))
        )

    def _share(self, *, good: bool) -> int:
        """Return how many workers a project or a receiver may have."""
        return max(_LEAST, self._workers // (4 if good else 8))

    def begin(self, webhook: Webhook, now: float) -> Attempt | None:
        """Return an attempt that may begin now; None if the shares are used up.

        :param now: by the monotonic clock
        """
        mine = self._usages(webhook)
        good, receives = mine[0].good, mine[2].running
        due = DueWebhook(id=webhook.id, project_id=webhook.project_id)
        if not self.allows(due) or receives >= self._share(good=good):
            return None
        self._doubtful += not good
        for one in mine:
            one.running += 1
            one.tried_at = now
        return Attempt(webhook=webhook, good=good, begun=now)

    def end(self, attempt: Attempt, now: float, *, accepted: bool) -> None:
        """Note the outcome of an attempt."""
        mine = self._usages(attempt.webhook)
        for one in mine:
            one.running -= 1
        mine[0].good = accepted and now - attempt.begun <= SLOW
        self._doubtful -= not attempt.good
        self._forget()

    def give_back(self, attempt: Attempt) -> None:
        """Forget an attempt that has not begun, as there was nothing left to send."""
        for one in self._usages(attempt.webhook):
            one.running -= 1
        self._doubtful -= not attempt.good

    def _usages(self, webhook: Webhook) -> tuple[_Usage, _Usage, _Usage]:
        return (
            self._webhooks[webhook.id],
            self._projects[webhook.project_id],
            self._receivers[receiver(webhook.url)],
        )

    def _forget(self) -> None:
        for known in (self._webhooks, self._projects, self._receivers):
            if len(known) > _MOST_KNOWN:
                for key in list(_idle(known)):
                    del known[key]


def receiver(url: str) -> str:
    """Return the name of the machine that receives the events of a URL."""
    return (urllib.parse.urlsplit(url).hostname or '').lower()


def _idle(known: dict[str, _Usage]) -> Iterator[str]:
    return (key for key, one in known.items() if not one.running)
