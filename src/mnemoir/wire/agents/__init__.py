"""What coding agents send in a person's name: frames around the person's words, and side tasks of their own."""
