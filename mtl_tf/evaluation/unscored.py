"""What is raised of an example that a metric cannot score."""


class Unscored(ValueError):
    """An example lacks what a metric has to know of it.

    Attributes:
        number: place of the example among those that were given.
        fault: what is wrong with it.
    """

    def __init__(self, number: int, fault: str):
        super().__init__(f"example {number}: {fault}")
        self.number = number
        self.fault = fault
