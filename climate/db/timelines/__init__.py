# SPDX-License-Identifier: Apache-2.0

"""What is booked of each resource, kept in memory and up to date.

Start with ``timelines``. Imports ``booking``, ``resources``, ``schema`` and ``statements``.
"""
