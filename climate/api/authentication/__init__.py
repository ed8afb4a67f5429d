# SPDX-License-Identifier: Apache-2.0

"""Finds out who calls: by token, session of the web page, or single sign-on.

Start with ``auth``. Imports ``errors``, ``http``, ``limits`` and ``schemas``.
"""
