# SPDX-License-Identifier: Apache-2.0

"""Checks of a few resources in SQL: which of them match, and which are free.

Start with ``search``. Imports ``engine``, ``resources``, ``schema`` and ``statements``.
"""
