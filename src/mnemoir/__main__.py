"""`python -m mnemoir` is the command `mnemoir`."""

from mnemoir.cli import main

if __name__ == "__main__":
    main()
