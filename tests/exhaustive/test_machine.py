# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Runs the machine of ``tests/functional/manager/test_machine.py`` many times."""

from __future__ import annotations

import unittest

from tests.functional.manager import test_machine

_MANY = test_machine.often(60)


class TestMachine(test_machine.Machine.TestCase, unittest.TestCase):
    """One lease after the other."""

    settings = _MANY


class TestMachineInBatches(test_machine.MachineInBatches.TestCase, unittest.TestCase):
    """In batches."""

    settings = _MANY
