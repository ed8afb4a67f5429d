# SPDX-License-Identifier: Apache-2.0

"""Questions about the leases and resources of all projects. Nothing here writes bookings.

Start with ``figures``. Imports ``leases``, ``resources``, ``schema``, ``search`` and
``statements``.
"""
