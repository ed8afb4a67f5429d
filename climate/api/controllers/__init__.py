# SPDX-License-Identifier: Apache-2.0

"""One controller for each noun: its routes, and the handlers that they lead to.

Start with ``table``. Imports ``http``, ``middleware``, ``routing``, ``schemas``
and ``views``.
"""
