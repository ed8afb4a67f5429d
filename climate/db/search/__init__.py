# SPDX-License-Identifier: Apache-2.0

"""Searches in SQL: which resources match, and how much of them is free.

Start with ``search``. Imports ``engine``, ``resources``, ``schema`` and ``statements``.
"""
