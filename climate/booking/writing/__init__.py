# SPDX-License-Identifier: Apache-2.0

"""Creates, changes, moves and deletes leases: one transaction for each request.

Start with ``create``. Imports ``choosing`` and ``requests``.
"""
