"""What `mnemoir doctor` looks at."""
