"""The external client is played by a stand-in."""
