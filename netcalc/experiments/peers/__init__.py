"""Helper processes of a run: peers, workers, and holders of a namespace."""
