# SPDX-License-Identifier: Apache-2.0

"""Proposes when and where a request can be met, and books or holds what was proposed.

Start with ``offers``. Imports ``choosing``, ``requests`` and ``writing``.
"""
