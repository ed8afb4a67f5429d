# SPDX-License-Identifier: Apache-2.0

"""JSON schemas of request bodies: a module for each noun, a schema for each microversion.

Start with ``leases``. Imports ``http`` and ``path_ids``.
"""
