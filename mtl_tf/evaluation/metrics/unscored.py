"""The exception for examples that a metric cannot score."""


class Unscored(ValueError):
    """An example lacks what a metric needs.

    Attributes:
        number: the example's index among the given ones.
        fault: what is wrong with it.
    """

    def __init__(self, number: int, fault: str):
        super().__init__(f"example {number}: {fault}")
        self.number = number
        self.fault = fault
