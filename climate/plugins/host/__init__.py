# SPDX-License-Identifier: Apache-2.0

"""``physical:host``: whole hosts."""
