# SPDX-License-Identifier: Apache-2.0

"""The tables of the database, and the rules that the database enforces itself.

Start with ``tables``. Imports no other room.
"""
