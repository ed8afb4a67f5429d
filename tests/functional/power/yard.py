# SPDX-License-Identifier: Apache-2.0

"""Machines that can be switched on and off, and what stands around them."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import uuid
from collections.abc import Sequence

import fixtures

from climate.power.drivers import Driver
from climate.power.drivers import PowerError
from climate.simulator import SimulatedCloud
from tests.functional.processes import free_port
from tests.functional.processes import until

# What it does takes it from one to eleven seconds, by chance; here it is quick.
_MAIN = """
import random, sys
random.randint = lambda least, most: least
from sushy_tools.emulator import main
sys.exit(main.main())
"""


class Emulator(fixtures.Fixture):
    """A ``sushy-emulator`` with systems that consist of their power switch.

    :ivar address: of its Redfish service
    """

    def __init__(self, names: Sequence[str], *, power: str = 'On') -> None:
        super().__init__()
        self.ids = {name: str(uuid.uuid5(uuid.NAMESPACE_DNS, name)) for name in names}
        self._power = power
        self._port = free_port()
        self.address = f'http://127.0.0.1:{self._port}'

    def _setUp(self) -> None:
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        systems = [
            {'uuid': found, 'name': name, 'power_state': self._power, 'nics': []}
            for name, found in self.ids.items()
        ]
        configuration = folder / 'emulator.conf'
        configuration.write_text(
            f'SUSHY_EMULATOR_FAKE_SYSTEMS = {systems!r}\n'
            f'SUSHY_EMULATOR_STATE_DIR = {str(folder)!r}\n'
        )
        words = ['--fake', '-i', '127.0.0.1', '-p', str(self._port), '--config']
        self.process = subprocess.Popen(
            [sys.executable, '-c', _MAIN, *words, str(configuration)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.addCleanup(self.process.wait, 10)
        self.addCleanup(self.process.kill)
        until('the emulator answers', self._answers, 180)

    def _answers(self) -> bool:
        try:
            return all(self.power(name) for name in self.ids)
        except (OSError, urllib.error.URLError):
            return False

    def power(self, name: str) -> str:
        """Return the power of a system, ``On`` or ``Off``."""
        where = f'{self.address}/redfish/v1/Systems/{self.ids[name]}'
        with urllib.request.urlopen(where, timeout=60) as answer:
            return str(json.load(answer)['PowerState'])

    def powers(self) -> list[str]:
        """Return the power of every system."""
        return [self.power(name) for name in self.ids]

    def freeze(self) -> None:
        """Take connections and answer none."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Answer again."""
        os.kill(self.process.pid, signal.SIGCONT)


class Wires(fixtures.Fixture):
    """Lets the nova-computes of a simulated cloud follow the power of their machines."""

    def __init__(self, cloud: SimulatedCloud, emulator: Emulator) -> None:
        super().__init__()
        self._cloud = cloud
        self._emulator = emulator
        self._over = threading.Event()

    def _setUp(self) -> None:
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 10)
        self.addCleanup(self._over.set)

    def _run(self) -> None:
        while not self._over.wait(0.2):
            for name in self._emulator.ids:
                try:
                    on = self._emulator.power(name) == 'On'
                except (OSError, urllib.error.URLError):
                    continue
                self._cloud.set_hypervisor(name, state='up' if on else 'down')


class Switch(Driver):
    """A machine of which a test says everything.

    :ivar stuck: whether it ignores its requests
    :ivar trouble: what it says in place of an answer
    """

    def __init__(self, cloud: SimulatedCloud, name: str) -> None:
        self._cloud = cloud
        self._name = name
        self.on = True
        self.stuck = False
        self.trouble = ''
        self.hangs: threading.Event | None = None
        self.commands: list[str] = []

    def is_on(self) -> bool:
        """Whether it has power."""
        if self.hangs is not None:
            self.hangs.wait(20)
        if self.trouble:
            raise PowerError(self.trouble)
        return self.on

    def switch_on(self) -> None:
        """Switch it on."""
        self._set('on', on=True)

    def switch_off(self, *, force: bool) -> None:
        """Switch it off."""
        self._set('cut off' if force else 'off', on=False)

    def _set(self, word: str, *, on: bool) -> None:
        self.commands.append(word)
        if not self.stuck:
            self.on = on
            self._cloud.set_hypervisor(self._name, state='up' if on else 'down')
