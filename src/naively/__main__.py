"""``python -m naively`` is the command ``naively``."""

from naively.cli import app

if __name__ == "__main__":
    app()
