# SPDX-License-Identifier: Apache-2.0

"""Runs the machine of ``tests/functional/manager/test_machine.py`` many times."""

from __future__ import annotations

import unittest

from tests.functional.manager import test_machine

_MANY = test_machine.often(60)


class TestMachine(test_machine.Machine.TestCase, unittest.TestCase):
    """With more examples."""

    settings = _MANY
