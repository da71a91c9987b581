"""A base of datasets that are made of another one."""

from __future__ import annotations

from chainer.dataset.tabular import tabular_dataset


class DelegateDataset(tabular_dataset.View):
    """A dataset that passes all on to another; a base of those that override some of it.

    Args:
        dataset (TabularDataset): The other one.

    Attributes:
        dataset (TabularDataset): The other one.
    """

    def __init__(self, dataset: tabular_dataset.TabularDataset) -> None:
        super().__init__(dataset)
