"""The config tree: users, endpoints, presets, templates, routing and workflows as files, and what they say."""
