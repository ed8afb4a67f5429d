# SPDX-License-Identifier: Apache-2.0

"""Creates the tables, and upgrades those of older revisions.

Start with ``migration``. Imports ``engine``, ``schema`` and ``transactions``.
"""
