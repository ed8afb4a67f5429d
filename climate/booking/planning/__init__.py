# SPDX-License-Identifier: Apache-2.0

"""Books flexible leases, and gives others their place where they find another.

Start with ``flexible``. Imports ``choosing``, ``offers``, ``requests`` and ``writing``.
"""
