"""The one data layer: bytes on disk <-> records. Nothing above this package opens a ledger."""
