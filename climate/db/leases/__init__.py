# SPDX-License-Identifier: Apache-2.0

"""The rows of leases, reservations and events, and the claims of managers on them.

Start with ``leases``. Imports ``encryption``, ``engine``, ``resources``, ``schema`` and
``statements``.
"""
