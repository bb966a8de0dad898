"""What can go wrong in a comparison without being a mistake of the program."""


class ComparisonError(Exception):
    """Something that the person at the terminal can do something about; its text is shown without a trace."""


class NotAvailable(ComparisonError):
    """A server or a tool that is not installed, or that this machine does not allow: left out, with this text."""


class WrongAnswer(ComparisonError):
    """A server that answers something else than the origin, or asks the origin where it should not."""
