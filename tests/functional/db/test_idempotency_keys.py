# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import dataclasses
import datetime

import fixtures

from climate import exceptions
from climate.db.administration import purge
from climate.db.administration import rotation
from climate.db.encryption import vault
from climate.db.transactions.store import Store
from climate.domain.idempotency_keys import IdempotencyKey
from climate.domain.idempotency_keys import KeyedRequest
from climate.domain.idempotency_keys import StoredAnswer
from climate.enforcement import idempotency_keys
from climate.enforcement.idempotency_keys import KeyedAnswers
from climate.enforcement.idempotency_keys import LARGEST
from climate.enforcement.idempotency_keys import LASTS
from climate.enforcement.limits import Limits
from climate.enforcement.limits import ProjectLimits
from tests import services
from tests.functional.db import cases
from tests.functional.db import everything

FINGERPRINT = 'f' * 64
REQUEST = KeyedRequest(project_id='blue', key='k', fingerprint=FINGERPRINT)
SECRET = 'open-sesame!'
ANSWER = StoredAnswer(status=201, headers={'Content-Type': 'text/x'}, body=f'{{"a": "{SECRET}"}}')
MINUTE = datetime.timedelta(minutes=1)


@services.on_each_engine(cases.StoreCase)
class _Keys:
    """The same on each engine."""

    def setUp(self) -> None:
        super().setUp()
        self.answers = KeyedAnswers(self.store, ProjectLimits())

    def begin(self, request: KeyedRequest = REQUEST) -> IdempotencyKey:
        return self.answers.begin(request, MINUTE)

    def keyed(self, *keys: str) -> Store:
        """Return a process that has these encryption keys."""
        return self.closing(cases.connect(self.url, self.clock, keys))

    def test_an_answer_is_repeated(self) -> None:
        first = self.begin()
        self.assertIsNone(first.answer)
        self.answers.end(first, ANSWER)
        self.assert_has(self.begin(), answer=ANSWER, object_id=first.object_id)

    def test_keys_are_compared_byte_by_byte(self) -> None:
        first = self.begin()
        for key in ('K', 'k ', 'K '):
            other = self.begin(dataclasses.replace(REQUEST, key=key))
            self.assertNotEqual(first.object_id, other.object_id)

    def test_the_longest_key(self) -> None:
        request = KeyedRequest(project_id='p' * 255, key='~' * 255, fingerprint='f' * 64)
        self.answers.end(self.begin(request), ANSWER)
        self.assertEqual(ANSWER, self.begin(request).answer)

    def test_another_project_has_other_keys(self) -> None:
        first = self.begin()
        other = self.begin(dataclasses.replace(REQUEST, project_id='red', fingerprint='g'))
        self.assertNotEqual(first.object_id, other.object_id)

    def test_another_request(self) -> None:
        first = self.begin()
        other = dataclasses.replace(REQUEST, fingerprint='g')
        self.assertRaises(exceptions.IdempotencyKeyReused, self.begin, other)
        self.answers.end(first, None)
        self.assertRaises(exceptions.IdempotencyKeyReused, self.begin, other)
        self.answers.end(self.begin(), ANSWER)
        self.assertRaises(exceptions.IdempotencyKeyReused, self.begin, other)

    def test_one_at_a_time(self) -> None:
        first = self.begin()
        error = self.assertRaises(exceptions.IdempotencyKeyInUse, self.begin)
        self.assertEqual(1, error.facts['retry_after'])
        self.answers.end(first, None)
        self.assertEqual(first.object_id, self.begin().object_id)

    def test_a_dead_process_is_replaced_and_answers_no_more(self) -> None:
        first = self.begin()
        self.clock.move_to(cases.NOW + MINUTE - datetime.timedelta(microseconds=1))
        self.assertRaises(exceptions.IdempotencyKeyInUse, self.begin)
        self.clock.move_to(cases.NOW + MINUTE)
        second = self.begin()
        self.assertEqual(first.object_id, second.object_id)
        self.answers.end(first, dataclasses.replace(ANSWER, status=500))
        self.assertRaises(exceptions.IdempotencyKeyInUse, self.begin)
        self.answers.end(second, ANSWER)
        self.assertEqual(ANSWER, self.begin().answer)
        self.answers.end(first, None)
        self.assertEqual(ANSWER, self.begin().answer)

    def test_it_expires(self) -> None:
        first = self.begin()
        self.answers.end(first, ANSWER)
        self.clock.move_to(first.expires_at - datetime.timedelta(microseconds=1))
        self.assertEqual(ANSWER, self.begin().answer)
        self.clock.move_to(cases.NOW + LASTS)
        second = self.begin(dataclasses.replace(REQUEST, fingerprint='g'))
        self.assertIsNone(second.answer)
        self.assertNotEqual(first.object_id, second.object_id)

    def test_too_many(self) -> None:
        answers = KeyedAnswers(self.store, ProjectLimits(usual=Limits(idempotency_keys=2)))
        for key in ('a', 'b'):
            answers.begin(dataclasses.replace(REQUEST, key=key), MINUTE)
            self.clock.advance(3600)
        error = self.assertRaises(exceptions.TooManyRequests, answers.begin, REQUEST, MINUTE)
        self.assertIn('2 idempotency keys', error.message)
        self.assertEqual(22 * 3600, error.facts['retry_after'])
        # Those that are there already can be repeated.
        answers.begin(dataclasses.replace(REQUEST, key='a'), MINUTE)
        answers.begin(dataclasses.replace(REQUEST, project_id='red'), MINUTE)
        self.clock.advance(22 * 3600)
        answers.begin(REQUEST, MINUTE)

    def test_large_answers_are_not_kept(self) -> None:
        large = dataclasses.replace(ANSWER, body='\N{BULLET}' * (LARGEST // 3 + 1))
        self.answers.end(self.begin(), large)
        self.assert_error(exceptions.IdempotentAnswerLost, '201', self.begin)
        request = dataclasses.replace(REQUEST, key='l')
        largest = dataclasses.replace(ANSWER, body='x' * LARGEST)
        self.answers.end(self.begin(request), largest)
        self.assertEqual(largest, self.begin(request).answer)

    def test_the_bodies_of_a_project_are_limited_together(self) -> None:
        self.useFixture(
            fixtures.MockPatchObject(idempotency_keys, 'MOST_OF_PROJECT', 3 * LARGEST - 1)
        )
        answer = dataclasses.replace(ANSWER, body='x' * LARGEST)
        requests = [dataclasses.replace(REQUEST, key=key) for key in 'abc']
        for request in requests:
            self.answers.end(self.begin(request), answer)
        for request in requests[:2]:
            self.assertEqual(answer, self.begin(request).answer)
        self.assertRaises(exceptions.IdempotentAnswerLost, self.begin, requests[2])
        small = dataclasses.replace(REQUEST, key='small')
        self.answers.end(self.begin(small), ANSWER)
        self.assertEqual(ANSWER, self.begin(small).answer)
        other = dataclasses.replace(REQUEST, project_id='red')
        self.answers.end(self.begin(other), answer)
        self.assertEqual(answer, self.begin(other).answer)
        # A try that takes over has as much room.
        again = dataclasses.replace(REQUEST, key='again')
        self.begin(again)
        self.clock.advance(61)
        self.answers.end(self.begin(again), answer)
        self.assertRaises(exceptions.IdempotentAnswerLost, self.begin, again)

    def test_encrypted(self) -> None:
        old, new = vault.new_key(), vault.new_key()
        answers = KeyedAnswers(self.keyed(old), ProjectLimits())
        answers.end(answers.begin(REQUEST, MINUTE), ANSWER)
        self.assertNotIn(SECRET, everything.text(self.store.engine))
        self.assertNotIn(FINGERPRINT, everything.text(self.store.engine))
        self.assertEqual(ANSWER, answers.begin(REQUEST, MINUTE).answer)
        # A process without the key does not do the work again.
        for store in (self.store, self.keyed(new)):
            other = KeyedAnswers(store, ProjectLimits())
            self.assertRaises(exceptions.IdempotentAnswerLost, other.begin, REQUEST, MINUTE)
        # Nor can it find out whether a request without an answer is the same.
        unanswered = dataclasses.replace(REQUEST, key='u')
        answers.end(answers.begin(unanswered, MINUTE), None)
        self.assertRaises(exceptions.IdempotencyKeyReused, self.begin, unanswered)
        both = self.keyed(new, old)
        rotation.rotate(both, both.vault)
        rotated = KeyedAnswers(self.keyed(new), ProjectLimits())
        self.assertEqual(ANSWER, rotated.begin(REQUEST, MINUTE).answer)
        self.assertIsNone(rotated.begin(unanswered, MINUTE).answer)

    def test_a_rotation_encrypts_what_was_stored_in_clear(self) -> None:
        self.answers.end(self.begin(), ANSWER)
        self.begin(dataclasses.replace(REQUEST, key='without an answer'))
        self.assertIn(SECRET, everything.text(self.store.engine))
        keyed = self.keyed(vault.new_key())
        rotation.rotate(keyed, keyed.vault)
        self.assertNotIn(SECRET, everything.text(self.store.engine))
        self.assertEqual(ANSWER, KeyedAnswers(keyed, ProjectLimits()).begin(REQUEST, MINUTE).answer)

    def test_expired_ones_are_forgotten(self) -> None:
        for key in ('a', 'b', 'c'):
            self.begin(dataclasses.replace(REQUEST, key=key))
        self.clock.advance(1)
        self.begin(dataclasses.replace(REQUEST, key='d'))
        self.clock.move_to(cases.NOW + LASTS)
        forget = self.store.run
        self.assertEqual(2, forget(lambda tx: tx.idempotency_keys.forget_expired(2)))
        self.assertEqual(1, forget(lambda tx: tx.idempotency_keys.forget_expired(2)))
        self.assertEqual(0, forget(lambda tx: tx.idempotency_keys.forget_expired(2)))
        self.clock.advance(1)
        purge.purge(self.store, cases.NOW)
        self.assertEqual(0, self.store.run(lambda tx: tx.idempotency_keys.forget_expired(2)))
