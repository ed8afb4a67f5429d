# SPDX-License-Identifier: Apache-2.0

"""A manager hangs while it has a lease yield or resume, and goes on after others took over.

Meanwhile the lease for which it yields has begun, and perhaps ended.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable
from typing import Any

from climate.cloud import read_only
from climate.domain.leases import Lease
from climate.domain.leases import YieldMode
from climate.simulator import SimulatedCloud
from tests.exhaustive.zombies import returning_managers
from tests.functional.manager import test_failing_yields
from tests.functional.manager.test_failing_yields import LIVED
from tests.functional.manager.test_failing_yields import Wishes

# The effect is not given up because the first manager hung.
SETTINGS = dataclasses.replace(
    test_failing_yields.SETTINGS, effect_deadline=datetime.timedelta(hours=1)
)


class ComebacksTest(test_failing_yields.FailingYieldsTest):
    """The same leases; each call hangs once on its way to the cloud, or back."""

    site: returning_managers.ObservedDeployment

    def made(self) -> returning_managers.ObservedDeployment:
        return returning_managers.ObservedDeployment(settings=SETTINGS)

    def walk(self, wishes: Callable[[SimulatedCloud], Wishes], mode: YieldMode) -> None:
        lease = self.cut(wishes, mode)
        begin = self.site.save()
        verbs = list[str]()

        def count(verb: str, call: Callable[[], Any]) -> Any:
            verbs.append(verb)
            return call()

        self.site.watch = count
        self.site.restore(begin)
        self.assertEqual(LIVED, self.live(lease))
        contents = self.shape(lease)
        self.assertGreater(len(verbs), 5)
        for step, verb in enumerate(verbs):
            for before in (False,) if read_only.is_read_only(verb) else (True, False):
                self.site.watch = self.hangs(step, before)
                self.site.restore(begin)
                found = self.live(lease)
                list(self.site.repair().run())
                where = f'{verb}, step {step}, {"before" if before else "after"}'
                self.assertEqual((LIVED, contents), (found, self.shape(lease)), where)

    def shape(self, lease: Lease) -> Any:
        """Return what there is of the lease, whenever it resumes."""
        period, *others = super().shape(lease)
        return period.length, others

    def hangs(self, step: int, before: bool) -> Callable[[str, Callable[[], Any]], Any]:
        """Return what intercepts calls, and lets one of them hang."""
        calls = 0

        def watch(_verb: str, call: Callable[[], Any]) -> Any:
            nonlocal calls
            calls += 1
            if calls != step + 1:
                return call()
            if before:
                self.others()
                return call()
            try:
                return call()
            finally:
                self.others()

        return watch

    def others(self) -> None:
        """Let another manager take over."""
        site = self.site
        site.watch = None
        site.manager = site.add_manager()
        site.until(site.seconds() + returning_managers.CLAIMS)
