# SPDX-License-Identifier: Apache-2.0

"""Filters are asked in their order, and the first that refuses decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fixtures
import stevedore.driver

from climate import exceptions
from climate.domain.charges import Charge
from climate.domain.charges import ChargeState
from climate.enforcement import loading
from climate.enforcement.base import Filter
from climate.enforcement.base import FilterQuestion
from climate.enforcement.durations import ExtensionWindow
from climate.enforcement.durations import MaxLeaseDuration
from climate.enforcement.external_service import ExternalService
from climate.enforcement.filters import Filters
from tests import base
from tests.unit.enforcement import questions
from tests.unit.enforcement.test_durations import configured


class RecordedFilter(Filter):
    """Notes what it is asked, and raises what it is given."""

    waits = True

    def __init__(self, name: str, log: list[str], error: Exception | None = None) -> None:
        self._name = name
        self._log = log
        self._error = error

    @classmethod
    def from_conf(cls, conf: Any) -> RecordedFilter:
        raise ValueError('a broken option')

    @property
    def notified_of(self) -> frozenset[ChargeState]:
        return frozenset({ChargeState.COMMIT})

    @property
    def longest_check(self) -> float:
        return 5.0

    def _say(self, what: str) -> None:
        self._log.append(f'{self._name} {what}')
        if self._error is not None:
            raise self._error

    def check_create(self, question: FilterQuestion) -> None:
        self._say('create')

    def check_update(self, question: FilterQuestion) -> None:
        self._say('update')

    def notify(self, charge: Charge) -> None:
        self._say(charge.state)


def gate(**errors: Exception | None) -> tuple[Filters, list[str]]:
    """Return filters of these names that raise this, and what they were asked."""
    log: list[str] = []
    return Filters({name: RecordedFilter(name, log, error) for name, error in errors.items()}), log


class TestGate(base.TestCase):
    """All filters as one."""

    def test_all_agree(self) -> None:
        filters, log = gate(one=None, two=None)
        decision = filters.check(questions.creation())
        self.assertIsNone(decision.refusal)
        self.assertEqual({'one', 'two'}, decision.noted)
        filters.check(questions.change(1, 2, 0))
        self.assertEqual(['one create', 'two create', 'one update', 'two update'], log)

    def test_the_order_is_the_one_declared(self) -> None:
        no = exceptions.LimitExceeded('no')
        for names in (('c', 'a', 'b'), ('b', 'c', 'a')):
            filters, log = gate(**{name: no if name == 'a' else None for name in names})
            decision = filters.check(questions.creation())
            self.assertIs(no, decision.refusal)
            before = names[: names.index('a')]
            self.assertEqual([f'{name} create' for name in (*before, 'a')], log)
            # Who refuses takes no note; who was not asked, neither.
            self.assertEqual(set(before), decision.noted)

    def test_who_did_not_answer_may_have_taken_note(self) -> None:
        filters, _ = gate(one=None, two=exceptions.ExternalServiceUnavailable(), three=None)
        decision = filters.check(questions.creation())
        self.assertIsInstance(decision.refusal, exceptions.ExternalServiceUnavailable)
        self.assertEqual({'one', 'two'}, decision.noted)

    def test_a_filter_that_breaks_refuses(self) -> None:
        logger = self.useFixture(fixtures.FakeLogger())
        filters, _ = gate(one=KeyError('x'))
        decision = filters.check(questions.creation())
        self.assertIsInstance(decision.refusal, exceptions.ExternalServiceUnavailable)
        self.assertEqual({'one'}, decision.noted)
        self.assertIn('one failed', logger.output)

    def test_exempt_projects_are_not_checked(self) -> None:
        self.assertFalse(Filters().applies_to('blue'))
        filters = Filters({'one': RecordedFilter('one', [])}, ['red'])
        self.assertTrue(filters.applies_to('blue'))
        self.assertFalse(filters.applies_to('red'))

    def test_what_the_filters_need(self) -> None:
        filters, _ = gate(one=None, two=None)
        self.assertTrue(filters.waits)
        self.assertEqual(('one', 'two'), filters.notified_of_outcomes)
        self.assertEqual(('one', 'two'), filters.notified_of(ChargeState.COMMIT))
        self.assertEqual((), filters.notified_of(ChargeState.END))
        self.assertEqual(10.0, filters.longest_check.total_seconds())
        self.assertLess(filters.longest_check, filters.undecided_for)
        still = Filters({'long': MaxLeaseDuration(None)})
        self.assertEqual((False, (), ()), (still.waits, still.notified_of_outcomes, still.notified))

    def test_filters_are_notified_of_the_states_they_want(self) -> None:
        filters, log = gate(one=None)
        for state in (ChargeState.END, ChargeState.COMMIT):
            filters.notify(questions.charge(state, 'one'))
        self.assertEqual(['one commit'], log)


class TestLoading(base.TestCase):
    """Filters are found by name; a wrong one is named in one clear line."""

    def refusal(self, name: str) -> str:
        conf = configured(enabled_filters=[name])
        error = self.assertRaises(exceptions.ConfigurationError, loading.load, conf)
        self.assertNotIn('\n', error.message)
        return str(error.message)

    def pretend(self, things: Mapping[str, object]) -> None:
        """Let the entry points be these."""

        class Manager:
            def __init__(self, _namespace: str, name: str, **_options: object) -> None:
                self.driver = things[name]

        self.useFixture(fixtures.MonkeyPatch('stevedore.driver.DriverManager', Manager))
        self.assertIs(Manager, stevedore.driver.DriverManager)

    def test_none(self) -> None:
        self.assertFalse(loading.load(configured()).applies_to('blue'))

    def test_in_the_declared_order_and_once(self) -> None:
        class Named(RecordedFilter):
            @classmethod
            def from_conf(cls, conf: Any) -> RecordedFilter:
                return cls('', [])

        self.pretend({'b': Named, 'a': Named, 'c': Named})
        found = loading.load(configured(enabled_filters=['b', 'c', 'a', 'c']))
        self.assertEqual(('b', 'c', 'a'), found.notified)

    def test_exempt_projects(self) -> None:
        self.pretend({'long': MaxLeaseDuration})
        found = loading.load(configured(enabled_filters=['long'], exempt_projects=['red']))
        self.assertEqual([True, False], [found.applies_to('blue'), found.applies_to('red')])

    def test_all_that_come_with_climate(self) -> None:
        names = [
            'external_service',
            'ExternalServiceFilter',
            'MaxLeaseDurationFilter',
            'max_lease_duration',
            'extension_window',
        ]
        url = 'http://127.0.0.1:1/'
        found = loading.load(configured(enabled_filters=names, external_service_base_endpoint=url))
        kinds = [ExternalService] * 2 + [MaxLeaseDuration] * 2 + [ExtensionWindow]
        self.assertEqual(kinds, [type(found[name]) for name in names])
        self.assertEqual(('external_service', 'ExternalServiceFilter'), found.notified)

    def test_a_service_without_an_address(self) -> None:
        text = self.refusal('external_service')
        self.assertIn("'external_service' cannot be used: external_service_base_endpoint", text)

    def test_unknown(self) -> None:
        self.assertIn("'no_such' is not installed", self.refusal('no_such'))

    def test_not_a_filter(self) -> None:
        self.pretend({'some': dict})
        self.assertIn("'some' is not a filter of Climate", self.refusal('some'))

    def test_broken(self) -> None:
        self.pretend({'some': RecordedFilter})
        self.assertIn("'some' cannot be used: a broken option", self.refusal('some'))
