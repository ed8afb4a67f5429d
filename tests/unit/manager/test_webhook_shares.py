# SPDX-License-Identifier: Apache-2.0
"""Which webhooks get the workers of a manager."""

from __future__ import annotations

from climate.domain.webhooks import Webhook
from climate.manager.senders import webhook_shares
from climate.manager.senders.webhook_shares import Attempt
from climate.manager.senders.webhook_shares import DueWebhook
from climate.manager.senders.webhook_shares import WebhookShares
from tests import base

WORKERS = 16


def webhook(name: str, project: str = 'red', host: str = '') -> Webhook:
    """Return a webhook with a receiver of its own, or on a host."""
    return Webhook(
        id=name,
        project_id=project,
        user_id='u',
        name=name,
        url=f'https://{host or name}.example.org/h',
    )


class SharesCase(base.TestCase):
    """A manager with sixteen workers."""

    def setUp(self) -> None:
        super().setUp()
        self.shares = WebhookShares(WORKERS)
        self.now = 0.0

    def begun(self, *webhooks: Webhook) -> list[Attempt]:
        """Begin as many attempts as may."""
        self.now += 1
        found = [self.shares.begin(one, self.now) for one in webhooks]
        return [one for one in found if one is not None]

    def proven(self, *webhooks: Webhook) -> None:
        """Let the webhooks accept an event quickly."""
        for one in webhooks:
            (attempt,) = self.begun(one)
            self.shares.end(attempt, self.now, accepted=True)


class TestShares(SharesCase):
    """How many run at once."""

    def test_of_a_webhook(self) -> None:
        one = webhook('a')
        self.assertEqual(1, len(self.begun(one, one, one)))
        other = webhook('b')
        self.proven(other)
        self.assertEqual(2, len(self.begun(other, other, other)))

    def test_of_a_project(self) -> None:
        many = [webhook(str(number)) for number in range(9)]
        self.assertEqual(2, len(self.begun(*many)))
        self.assertEqual(2, len(self.begun(*[webhook(f'b{n}', 'blue') for n in range(9)])))

    def test_of_a_project_whose_receivers_answer(self) -> None:
        many = [webhook(str(number)) for number in range(9)]
        self.proven(*many)
        self.assertEqual(4, len(self.begun(*many)))

    def test_of_a_receiver(self) -> None:
        many = [webhook(str(number), f'p{number}', 'same') for number in range(9)]
        self.assertEqual(2, len(self.begun(*many)))
        self.assertEqual(1, len(self.begun(webhook('other', 'p9'))))

    def test_half_for_those_that_answer(self) -> None:
        good = [webhook(f'good-{n}', f'good-{n}') for n in range(20)]
        self.proven(*good)
        doubtful = [webhook(str(number), f'p{number}') for number in range(20)]
        self.assertEqual(8, len(self.begun(*doubtful)))
        self.assertEqual(20, len(self.begun(*good)))

    def test_one_that_fails_or_is_slow_gets_fewer(self) -> None:
        for accepted, took in ((False, 0.1), (True, webhook_shares.SLOW + 0.1)):
            one = webhook(f'{accepted}', f'{accepted}')
            self.proven(one)
            first, second = self.begun(one, one)
            self.shares.end(first, self.now, accepted=True)
            self.shares.end(second, second.begun + took, accepted=accepted)
            self.assertEqual(1, len(self.begun(one, one)))

    def test_nothing_is_left_behind(self) -> None:
        one = webhook('a')
        for _ in range(50):
            (attempt,) = self.begun(one)
            self.shares.end(attempt, self.now + 10, accepted=False)
            (attempt,) = self.begun(one)
            self.shares.give_back(attempt)
        self.assertEqual(1, len(self.begun(one)))

    def test_few_workers(self) -> None:
        self.shares = WebhookShares(1)
        self.assertEqual(1, len(self.begun(webhook('a'), webhook('b', 'blue'))))


class TestOrder(SharesCase):
    """Who comes first."""

    def test_tried_longest_ago(self) -> None:
        hooks = [webhook('a'), webhook('b', 'blue'), webhook('c', 'green'), webhook('d', 'blue')]
        due = [DueWebhook(each.id, each.project_id) for each in hooks]
        for number in (2, 0, 1):
            self.proven(hooks[number])
        self.assertEqual(['c', 'a', 'd', 'b'], [each.id for each in self.shares.ordered(due)])
        self.assertEqual('e', self.shares.ordered([*due, DueWebhook('e', 'white')])[0].id)

    def test_what_is_known_is_bounded(self) -> None:
        self.patch(webhook_shares, '_MOST_KNOWN', 10)
        (kept,) = self.begun(webhook('kept', 'kept'))
        for number in range(100):
            self.proven(webhook(str(number), f'p{number}'))
        self.assertLessEqual(len(self.shares._webhooks), 12)
        # What runs is not forgotten.
        self.assertEqual([], self.begun(kept.webhook))
