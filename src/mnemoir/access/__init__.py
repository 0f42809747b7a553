"""Who may call: tenants, keys, people, issuers, and the log of what they did."""
