# SPDX-License-Identifier: Apache-2.0

"""``physical:storage``: whole storage pools."""
