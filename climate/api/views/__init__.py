# SPDX-License-Identifier: Apache-2.0

"""Domain objects as JSON: a module for each noun.

Start with ``leases``. Imports ``http``.
"""
