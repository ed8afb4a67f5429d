# SPDX-License-Identifier: Apache-2.0

"""What processes share: chores that one of them does at a time, and secrets.

Start with ``chores``. Imports ``schema`` and ``statements``.
"""
