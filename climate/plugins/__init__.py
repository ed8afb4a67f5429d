# SPDX-License-Identifier: Apache-2.0

"""Resource types: the contract of a type, and one folder for each."""
