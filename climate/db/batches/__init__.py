# SPDX-License-Identifier: Apache-2.0

"""Transactions that change many leases, with one statement for each step.

Start with ``batches``. Imports ``engine``, ``leases``, ``resources``, ``schema``,
``statements``, ``timelines`` and ``transactions``.
"""
