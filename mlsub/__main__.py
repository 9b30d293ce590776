"""``python -m mlsub``: the same as the ``mlsub`` command."""

from mlsub.cli import main

if __name__ == "__main__":
    main()
