# SPDX-License-Identifier: Apache-2.0

"""One file for each migration; expand first, contract in a later release."""
