# SPDX-License-Identifier: Apache-2.0

"""How long leases may last, and when they may be prolonged."""

from __future__ import annotations

import dataclasses
import datetime

from hypothesis import given
from hypothesis import strategies as st
from oslo_config import cfg

from climate import exceptions
from climate.domain.lifecycles import LeaseStatus
from climate.enforcement.base import Filter
from climate.enforcement.base import FilterQuestion
from climate.enforcement.durations import ExtensionWindow
from climate.enforcement.durations import MaxLeaseDuration
from tests import base
from tests import settings
from tests.unit.enforcement import questions

SECONDS = st.integers(min_value=1, max_value=10**7)


def configured(**values: object) -> cfg.ConfigOpts:
    """Return a configuration with these options in ``[enforcement]``."""
    return settings.configured('enforcement', **values)


def span(seconds: int) -> datetime.timedelta:
    return datetime.timedelta(seconds=seconds)


def refuses(rule: Filter, question: FilterQuestion) -> bool:
    """Say whether a filter refuses a change."""
    try:
        rule.check_update(question)
    except exceptions.LimitExceeded:
        return True
    return False


class TestMaxLeaseDuration(base.TestCase):
    """No lease lasts longer than so long."""

    def test_a_lease_as_long_as_allowed_and_one_second_longer(self) -> None:
        rule = MaxLeaseDuration.from_conf(configured(max_lease_duration=3600))
        rule.check_create(questions.creation(3600))
        error = self.assertRaises(
            exceptions.LeaseTooLong, rule.check_create, questions.creation(3601)
        )
        expected = 'Lease duration of 3601 seconds is longer than the longest allowed, 3600 seconds'
        self.assert_has(error, message=expected, code=400)

    def test_it_is_off(self) -> None:
        rule = MaxLeaseDuration.from_conf(configured())
        rule.check_create(questions.creation(10**8))
        rule.check_update(questions.change(1, 10**8, 0))

    def test_zero_is_a_limit(self) -> None:
        rule = MaxLeaseDuration.from_conf(configured(max_lease_duration=0))
        self.assertRaises(exceptions.LeaseTooLong, rule.check_create, questions.creation(1))

    def test_exempt_projects(self) -> None:
        conf = configured(
            max_lease_duration=1, max_lease_duration_exempt_project_ids=['red', 'blue']
        )
        MaxLeaseDuration.from_conf(conf).check_create(questions.creation(3600))
        with self.assertRaises(exceptions.LeaseTooLong):
            MaxLeaseDuration.from_conf(conf).check_create(
                questions.creation(3600, project_id='green')
            )

    @given(longest=SECONDS, before=SECONDS, after=SECONDS)
    def test_a_change_is_refused_only_if_it_makes_a_lease_too_long(
        self, longest: int, before: int, after: int
    ) -> None:
        found = refuses(MaxLeaseDuration(span(longest)), questions.change(before, after, 0))
        self.assertEqual(after > longest and after > before, found)

    @given(longest=SECONDS, wanted=SECONDS)
    def test_what_can_be_created_can_be_reached_by_a_change(
        self, longest: int, wanted: int
    ) -> None:
        rule = MaxLeaseDuration(span(longest))
        created = True
        try:
            rule.check_create(questions.creation(wanted))
        except exceptions.LeaseTooLong:
            created = False
        self.assertEqual(created, not refuses(rule, questions.change(0.5, wanted, 0)))


class TestExtensionWindow(base.TestCase):
    """A lease may be prolonged only shortly before its end."""

    def test_new_leases_pass(self) -> None:
        ExtensionWindow(span(0)).check_create(questions.creation(10**7))

    def test_the_window_opens(self) -> None:
        rule = ExtensionWindow.from_conf(configured(reservation_extension_window=600))
        with self.assertRaisesRegex(exceptions.OutsideExtensionWindow, 'last 600 seconds'):
            rule.check_update(questions.change(3600, 7200, 2999))
        rule.check_update(questions.change(3600, 7200, 3000))

    def test_it_is_off(self) -> None:
        ExtensionWindow.from_conf(configured()).check_update(questions.change(3600, 7200, 0))

    def test_a_lease_that_has_not_begun_is_free(self) -> None:
        rule = ExtensionWindow(span(0))
        rule.check_update(questions.change(3600, 7200, -60, LeaseStatus.PENDING))

    def test_a_question_without_a_lease_passes(self) -> None:
        question = dataclasses.replace(questions.change(3600, 7200, 0), current=None)
        ExtensionWindow(span(0)).check_update(question)

    @given(window=SECONDS, before=SECONDS, after=SECONDS, now=SECONDS)
    def test_only_prolonging_and_only_early_is_refused(
        self, window: int, before: int, after: int, now: int
    ) -> None:
        found = refuses(ExtensionWindow(span(window)), questions.change(before, after, now))
        self.assertEqual(after > before and before - now > window, found)
