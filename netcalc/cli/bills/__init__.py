"""Bills of providers from files of samples."""
