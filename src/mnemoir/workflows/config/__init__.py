"""The config tree: files of users, endpoints, presets, templates, routing and workflows, and the reading of them."""
