# SPDX-License-Identifier: Apache-2.0

"""Limits on what one address, project or request may use of a process.

Start with ``shares``. Imports ``http``.
"""
