# SPDX-License-Identifier: Apache-2.0

"""Statements that every repository uses: lists of values, writes of many rows.

Start with ``repository``. Imports ``engine`` and ``schema``.
"""
