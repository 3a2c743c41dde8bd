"""`python -m ldptrace` is the command `ldptrace`."""

from ldptrace.cli import main

if __name__ == "__main__":
    main()
