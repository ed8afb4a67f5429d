# SPDX-License-Identifier: Apache-2.0

"""Whatever can be drawn, killed, raced or spelt wrong, in all its ways: many minutes.

``make exhaustive`` runs it, ``make exhaustive SHARD=1/16`` a sixteenth of it, and
``make test`` none of it.
"""
