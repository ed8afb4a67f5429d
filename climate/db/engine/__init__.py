# SPDX-License-Identifier: Apache-2.0

"""Connections to SQLite, MariaDB and PostgreSQL: their setup, errors and prerequisites.

Start with ``connections``. Imports ``schema``.
"""
