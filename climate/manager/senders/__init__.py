# SPDX-License-Identifier: Apache-2.0

"""Threads that send what transactions have queued: to the bus, webhooks and filters.

Start with ``sender``. Imports ``claims``.
"""
