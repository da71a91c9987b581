"""Ranges; `log` has what a profiler would see."""

log: list = []


def RangePush(message, id_color=-1):
    log.append(message)


def RangePop():
    log.append(None)
