"""Who belongs to a network: configuration, certificates, founding, renewal."""
