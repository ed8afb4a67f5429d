# SPDX-License-Identifier: Apache-2.0

"""Transactions with all repositories, and the retries of those that fail.

Start with ``store``. Imports ``booking``, ``encryption``, ``engine``, ``leases``,
``messages``, ``processes``, ``reports``, ``resources``, ``search``, ``statements`` and
``timelines``.
"""
