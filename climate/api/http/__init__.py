# SPDX-License-Identifier: Apache-2.0

"""HTTP, without leases: WSGI, bodies, queries, dates and microversions.

Start with ``wsgi``. Imports no other room.
"""
