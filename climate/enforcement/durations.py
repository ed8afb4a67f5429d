# SPDX-License-Identifier: Apache-2.0

"""Limits on the duration of leases, and on when they may be prolonged."""

from __future__ import annotations

import datetime
from collections.abc import Collection
from typing import Any

from climate import exceptions
from climate.domain.lifecycles import LeaseStatus
from climate.enforcement.base import Filter
from climate.enforcement.base import FilterQuestion


class MaxLeaseDuration(Filter):
    """Limits the duration of leases.

    A lease that exceeds the limit, because it is older than the limit, can still
    be shortened, or changed in other ways.

    :param longest: the maximum duration; None for no limit
    :param exempt: ids of the projects to which the limit does not apply
    """

    def __init__(self, longest: datetime.timedelta | None, exempt: Collection[str] = ()) -> None:
        self._longest = longest
        self._exempt = frozenset(exempt)

    @classmethod
    def from_conf(cls, conf: Any) -> MaxLeaseDuration:
        """Return the filter that *conf* configures."""
        group = conf.enforcement
        return cls(_seconds(group.max_lease_duration), group.max_lease_duration_exempt_project_ids)

    def check_create(self, question: FilterQuestion) -> None:
        """Refuse a lease that is too long."""
        self._check(question, datetime.timedelta(0))

    def check_update(self, question: FilterQuestion) -> None:
        """Refuse a change that makes a lease too long."""
        current = question.current
        self._check(question, datetime.timedelta(0) if current is None else _lasts(current.lease))

    def _check(self, question: FilterQuestion, already: datetime.timedelta) -> None:
        lease = question.terms.lease
        if self._longest is None or lease.project_id in self._exempt:
            return
        lasts = _lasts(lease)
        if lasts > self._longest and lasts > already:
            raise exceptions.LeaseTooLong(
                lasts=int(lasts.total_seconds()), longest=int(self._longest.total_seconds())
            )


class ExtensionWindow(Filter):
    """Allows an active lease to be prolonged only shortly before its end.

    :param window: how long before the end; None allows it at any time
    """

    def __init__(self, window: datetime.timedelta | None) -> None:
        self._window = window

    @classmethod
    def from_conf(cls, conf: Any) -> ExtensionWindow:
        """Return the filter that *conf* configures."""
        return cls(_seconds(conf.enforcement.reservation_extension_window))

    def check_create(self, question: FilterQuestion) -> None:
        """Allow every new lease."""

    def check_update(self, question: FilterQuestion) -> None:
        """Refuse a change that prolongs a lease too early."""
        if self._window is None or question.current is None:
            return
        current = question.current.lease
        if current.status is LeaseStatus.PENDING:
            return
        end = current.period.end
        if question.terms.lease.period.end > end and question.now < end - self._window:
            raise exceptions.OutsideExtensionWindow(window=int(self._window.total_seconds()))


def _seconds(value: int) -> datetime.timedelta | None:
    return None if value < 0 else datetime.timedelta(seconds=value)


def _lasts(lease: Any) -> datetime.timedelta:
    lasts: datetime.timedelta = lease.period.end - lease.period.start
    return lasts
