# SPDX-License-Identifier: Apache-2.0

"""Encrypts secrets in rows, with keys from the configuration or a file.

Start with ``vault``. Imports no other room.
"""
