"""A stand-in replaces the external client."""
