"""Decorators that run a test several times."""

import functools
import unittest


class QuietTestRunner:
    """Runs tests without a word."""

    def run(self, suite: unittest.TestSuite) -> unittest.TestResult:
        """Runs a suite.

        Args:
            suite (unittest.TestSuite): The suite; a single case will do.

        Returns:
            unittest.TestResult: The result.
        """
        result = unittest.TestResult()
        suite.run(result)
        return result


def _run_once(test, instance, args, kwargs) -> None:
    """Runs a test as its runner would: a TestCase on a new instance, set up and torn down."""
    if not isinstance(instance, unittest.TestCase):
        test(instance, *args, **kwargs)
        return
    fresh = type(instance)(instance._testMethodName)
    fresh.setUp()
    try:
        test(fresh, *args, **kwargs)
    finally:
        fresh.tearDown()
        fresh.doCleanups()


def repeat_with_success_at_least(times: int, min_success: int):
    """Decorator that repeats a method and passes if enough of the runs do.

    Args:
        times (int): Runs at most; it ends as soon as the outcome is known.
        min_success (int): Runs that must pass.
    """
    if not times >= min_success >= 0:
        raise ValueError(
            f'times is {times}, min_success {min_success}: expected 0 <= min_success <= times'
        )

    def decorate(test):
        @functools.wraps(test)
        def run(instance, *args, **kwargs):
            successes = 0
            errors: list[Exception] = []
            while successes < min_success:
                try:
                    _run_once(test, instance, args, kwargs)
                    successes += 1
                except unittest.SkipTest:
                    raise
                except Exception as error:
                    errors.append(error)
                    if len(errors) > times - min_success:
                        raise AssertionError(
                            f'\nFail: {len(errors)}, Success: {successes}\n\n'
                            'The first error message:\n'
                            f'{type(errors[0]).__name__}: {errors[0]}\n'
                        ) from errors[0]

        return run

    return decorate


def repeat(times: int):
    """Decorator that runs a method several times, all of which must pass."""
    return repeat_with_success_at_least(times, times)


def retry(times: int):
    """Decorator that runs a method until it passes, at most so many times."""
    return repeat_with_success_at_least(times, 1)
