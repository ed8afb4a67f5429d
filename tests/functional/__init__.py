# SPDX-License-Identifier: Apache-2.0
"""Tests of several parts together, with databases and brokers."""

from tests import generations

generations.watch()
