"""Evaluation in several processes."""

from __future__ import annotations

import copy
import types
import typing as tp

from chainer import function
from chainer.dataset import convert as convert_module
from chainer.training import _convert
from chainer.training.extensions import Evaluator

from chainermn.extensions._numbers import to_number

if tp.TYPE_CHECKING:
    from chainer._typing import AnyCallable, DeviceSpec, Observation
    from chainer.link import Link

    from chainermn.communicators.communicator_base import CommunicatorBase

_TAG: tp.Final = 0


def create_multi_node_evaluator(actual_evaluator: tp.Any, communicator: CommunicatorBase) -> tp.Any:
    """Makes an evaluator report the means over all processes.

    Each process evaluates its part of the data; the means of the parts are averaged.

    Args:
        actual_evaluator (Evaluator): It is changed: its ``evaluate`` returns the means.
        communicator (CommunicatorBase): Connects the processes, which must all evaluate.

    Returns:
        The evaluator.
    """
    actual_evaluator._evaluate_here = actual_evaluator.evaluate
    actual_evaluator._communicator = communicator
    actual_evaluator.evaluate = types.MethodType(_evaluate_everywhere, actual_evaluator)
    return actual_evaluator


def _evaluate_everywhere(evaluator: tp.Any) -> Observation:
    here = {name: to_number(value) for name, value in evaluator._evaluate_here().items()}
    everyone = evaluator._communicator.allreduce_obj([here])
    for rank, other in enumerate(everyone):
        if other.keys() != everyone[0].keys():
            raise ValueError(
                f'evaluate: rank 0 reports {sorted(everyone[0])}, and rank {rank} {sorted(other)}'
            )
    n = len(everyone)
    return {name: sum(other[name] for other in everyone) / n for name in here}


class GenericMultiNodeEvaluator(Evaluator):
    """Brings what processes compute from their minibatches to one, which makes the result of all.

    A subclass has `calc_local` and `aggregate`. Unlike means of means, the result may be anything
    that follows from all examples.

    Args:
        comm (CommunicatorBase): Connects the processes, which must all have the extension.
        iterator: Of the data of this process, with ``repeat=False``; or a dict with ``'main'``.
        target: The link, or a dict of links with ``'main'``.
        device: Where arrays are brought; any argument of `chainer.get_device`.
        converter (callable): Makes arrays of the list of examples of a minibatch.
        root (int): The rank that makes the result.
        progress_hook (callable): Called with each minibatch before it is computed.
    """

    def __init__(
        self,
        comm: CommunicatorBase,
        iterator: tp.Any,
        target: Link | dict[str, Link],
        device: DeviceSpec | None = None,
        converter: AnyCallable = convert_module.concat_examples,
        root: int = 0,
        *,
        progress_hook: AnyCallable | None = None,
    ) -> None:
        super().__init__(iterator, target, converter, device)
        self.comm = comm
        self.root = root
        self.progress_hook = progress_hook

    def calc_local(self, *args: tp.Any, **kwargs: tp.Any) -> tp.Any:
        """Computes from one minibatch what `aggregate` needs of it. Overridden.

        Args:
            *args: The arrays of the minibatch.
            **kwargs: The same, of examples that are dicts.

        Returns:
            An object that can be pickled.
        """
        raise NotImplementedError(f'{type(self).__name__}.calc_local is not implemented')

    def aggregate(self, results: tp.Iterable[tp.Any]) -> Observation:
        """Makes the result, in the root alone. Overridden.

        Args:
            results (iterator): What `calc_local` returned: for the first minibatch of each rank,
                for the second one, and so on.

        Returns:
            dict: What is reported.
        """
        raise NotImplementedError(f'{type(self).__name__}.aggregate is not implemented')

    def evaluate(self) -> Observation:
        """Runs through the data of this process once.

        Returns:
            dict: The result; in other processes than the root an empty one.
        """
        if self.comm.rank == self.root:
            results = self._results_of_all()
            observation = self.aggregate(results)
            for _ in results:  # what nobody wanted is waiting to be received
                pass
            return observation
        for result in self._results_here():
            self.comm.send_obj((True, result), self.root, _TAG)
        self.comm.send_obj((False, None), self.root, _TAG)
        return {}

    def _results_here(self) -> tp.Iterator[tp.Any]:
        iterator = self.get_iterator('main')
        if hasattr(iterator, 'reset'):
            iterator.reset()
        else:
            iterator = copy.copy(iterator)
        for batch in iterator:
            if self.progress_hook is not None:
                self.progress_hook(batch)
            arrays = convert_module.call_converter(self.converter, batch, self.device)
            with function.no_backprop_mode():
                result = _convert.call_with(self.calc_local, arrays)
            yield result

    def _results_of_all(self) -> tp.Iterator[tp.Any]:
        own = self._results_here()
        active = list(range(self.comm.size))
        while active:
            for rank in list(active):
                if rank == self.root:
                    result = next(own, _END)
                    has_one = result is not _END
                else:
                    has_one, result = self.comm.recv_obj(rank, _TAG)
                if has_one:
                    yield result
                else:
                    active.remove(rank)


_END: tp.Final = object()
