# SPDX-License-Identifier: Apache-2.0

"""WSGI middleware that a request passes before and after routing.

Start with ``middleware``. Imports ``authentication``, ``errors``, ``http``, ``limits`` and
``routing``.
"""
