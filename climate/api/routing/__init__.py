# SPDX-License-Identifier: Apache-2.0

"""Finds the route of a request, and checks its policy rule, parameters and microversion.

Start with ``routes``. Imports ``authentication``, ``errors``, ``http``, ``limits`` and
``path_ids``.
"""
