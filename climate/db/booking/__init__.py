# SPDX-License-Identifier: Apache-2.0

"""Writes bookings, and verifies them before the commit.

Start with ``writer``. Imports ``engine``, ``leases``, ``resources``,
``schema``, ``search`` and ``statements``.
"""
