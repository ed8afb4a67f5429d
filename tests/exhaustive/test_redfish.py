# SPDX-License-Identifier: Apache-2.0

"""Machines with a Redfish service, as sushy-tools emulates it over HTTP."""

from __future__ import annotations

from typing import Any

import fixtures

from climate.power.drivers import PowerError
from climate.power.hosts import Machine
from climate.power.redfish import RedfishDriver
from tests import base
from tests import waiting
from tests.functional.power.yard import Emulator
from tests.functional.processes import free_port
from tests.functional.processes import until


class TestRedfish(base.TestCase):
    """One machine."""

    def setUp(self) -> None:
        super().setUp()
        # The library reports each attempt.
        self.useFixture(fixtures.FakeLogger())
        self.emulator = self.useFixture(Emulator(['compute-1'], power='Off'))

    def driver(self, **values: Any) -> RedfishDriver:
        said = {'address': self.emulator.address, 'username': 'root', 'password': 'k33p out'}
        machine = Machine(name='compute-1', driver='redfish', **said | values)
        return RedfishDriver(machine, timeout=1.0)

    def test_on_and_off_and_again(self) -> None:
        system = self.emulator.ids['compute-1']
        for named in ('', system, f'/redfish/v1/Systems/{system}'):
            driver = self.driver(system=named)
            self.assertFalse(driver.is_on())
            driver.switch_off(force=False)
            driver.switch_on()
            until('it is on', driver.is_on)
            driver.switch_on()
            self.assertTrue(driver.is_on())
            driver.switch_off(force=not named)
            until('it is off', lambda: not driver.is_on())  # noqa: B023  at once
            self.assertEqual('Off', self.emulator.power('compute-1'))

    def test_one_that_does_not_answer_costs_bounded_time(self) -> None:
        driver = self.driver()
        driver.is_on()
        self.emulator.freeze()
        self.addCleanup(self.emulator.thaw)
        # The library tries three times, with pauses of three seconds.
        for verb in (driver.is_on, driver.switch_on):
            with waiting.coming_back():
                error = self.assertRaises(PowerError, verb)
            self.assertIn('management controller', str(error))
        self.emulator.thaw()
        self.assertFalse(driver.is_on())

    def test_what_is_not_there(self) -> None:
        for values in ({'address': f'http://127.0.0.1:{free_port()}'}, {'system': 'nothing'}):
            error = self.assertRaises(PowerError, self.driver(**values).is_on)
            self.assertNotIn('k33p', str(error))
        self.assertRaises(ValueError, RedfishDriver, Machine(name='a', driver='redfish'), 1.0)
