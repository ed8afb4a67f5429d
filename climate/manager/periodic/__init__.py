# SPDX-License-Identifier: Apache-2.0

"""Threads that look for what is wrong, and repair it: hosts, trusts, interrupted work.

Start with ``repair``. Imports ``claims`` and ``running``.
"""
