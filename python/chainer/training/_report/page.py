"""The page about a training."""

from __future__ import annotations

import datetime
import math
import pathlib
import typing as tp
import urllib.parse
from xml.etree import ElementTree

from chainer.training._report import chart, series
from chainer.training._report.elements import Element, add, to_html
from chainer.training._report.facts import Run

_MOST_ROWS: tp.Final = 200
_MOST_FILES: tp.Final = 200
# The page forbids the browser to fetch anything.
_POLICY: tp.Final = "default-src 'none'; style-src 'unsafe-inline'"


def make(run: Run, generator: str) -> str:
    """Return the page as a text.

    Args:
        run (Run): The training that it shows.
        generator (str): The program that makes it.
    """
    root = ElementTree.Element('html', {'lang': 'en'})
    head = add(root, 'head')
    add(head, 'meta', charset='utf-8')
    add(head, 'meta', http_equiv='Content-Security-Policy', content=_POLICY)
    add(head, 'meta', name='viewport', content='width=device-width, initial-scale=1')
    add(head, 'meta', name='generator', content=generator)
    add(head, 'meta', name='color-scheme', content='light dark')
    add(head, 'title', f'{run.title} - training report')
    style = pathlib.Path(__file__).with_name('style.css').read_text(encoding='utf-8')
    add(head, 'style', style)
    main = add(add(root, 'body'), 'main')
    values = series.collect(run.log)
    _add_head(main, run)
    _add_curves(main, values)
    _add_values(main, values)
    _add_times(main, run)
    _add_parameters(main, run)
    _add_files(main, run)
    _add_environment(main, run)
    _add_log(main, run)
    return '<!DOCTYPE html>\n' + to_html(root) + '\n'


def _section(main: Element, title: str) -> Element:
    section = add(main, 'section')
    add(section, 'h2', title)
    return section


def _table(
    parent: Element, heads: tp.Sequence[str], rows: tp.Iterable[tp.Sequence[object]], text: int = 1
) -> Element:
    """A table whose first ``text`` columns are texts, and the others numbers."""
    table = add(add(parent, 'div', class_='scroll'), 'table')
    line = add(add(table, 'thead'), 'tr')
    for i, head in enumerate(heads):
        add(line, 'th', head, scope='col', class_='text' if i < text else 'number')
    body = add(table, 'tbody')
    for row in rows:
        line = add(body, 'tr')
        for i, cell in enumerate(row):
            td = add(line, 'td', cell)
            if i < text:
                td.set('class', 'text')
    return table


def _add_head(main: Element, run: Run) -> None:
    header = add(main, 'header')
    title = add(header, 'h1', run.title)
    if run.status:
        add(title, 'span', run.status, class_=f'status {run.status}')
    if run.detail:
        add(header, 'pre', run.detail, class_='detail')
    last = run.log[-1] if run.log else {}
    tiles = add(header, 'dl', class_='tiles')
    shown: list[tuple[str, str]] = []
    for key in ('epoch', 'iteration'):
        number = series.number(last.get(key))
        if number is not None:
            shown.append((key, f'{number:,.10g}'))
    seconds = series.number(last.get('elapsed_time'))
    if seconds is not None:
        shown.append(('time of training', _duration(seconds)))
    count = sum(parameter.count for parameter in run.parameters)
    if count and not run.parameters_note:
        shown.append(('parameters', f'{count:,}'))
    shown.append(('entries of the log', f'{len(run.log):,}'))
    now = datetime.datetime.now().astimezone()
    shown.append(('written', now.strftime('%Y-%m-%d %H:%M')))
    for name, text in shown:
        tile = add(tiles, 'div')
        add(tile, 'dt', name)
        add(tile, 'dd', text)


def _add_curves(main: Element, values: dict[str, series.Series]) -> None:
    section = _section(main, 'Curves')
    if not values:
        add(section, 'p', 'The log has no values yet.', class_='note')
        return
    grid = add(section, 'div', class_='charts')
    groups = series.group(values)
    # Each is a dozen elements: a page with hundreds of charts is to stay one that opens at once.
    readouts = min(120, max(10, 3000 // len(groups)))
    for number, lines in enumerate(groups):
        _add_chart(grid, number, lines, readouts)


def _add_chart(grid: Element, number: int, lines: list[series.Series], readouts: int) -> None:
    figure = add(grid, 'figure')
    caption = add(figure, 'figcaption')
    for i, line in enumerate(lines):
        name = add(caption, 'span', class_='name')
        add(name, 'i', '', class_=f'swatch {chart.color(i)}')
        add(name, 'b', line.name)
        add(name, 'span', f' {line.y[-1]:.5g}', class_='last')
    drawn = [line for line in lines if line.finite.any()]
    if not drawn:
        add(figure, 'p', 'None of the values is finite.', class_='note')
        return
    if chart.has_log(drawn):
        caption.set('class', 'switch')
        for kind in ('linear', 'log'):
            key = f'scale{number}{kind}'
            button = add(figure, 'input', type='radio', name=f'scale{number}', id=key, class_=kind)
            if kind == 'linear':
                button.set('checked', 'checked')
            add(figure, 'label', kind, for_=key)
        chart.draw(figure, drawn, True, 'of-log', readouts=readouts)
        chart.draw(figure, drawn, False, 'of-linear', readouts=readouts)
        lost = sum(int((line.finite & (line.y <= 0)).sum()) for line in drawn)
        if lost:
            note = f'{_count(lost, "value")} of 0 or less: marked ▼'
            add(figure, 'p', note, class_='note of-log')
    else:
        chart.draw(figure, drawn, readouts=readouts)
    if any(series.is_noisy(line.y) for line in drawn):
        add(figure, 'p', 'thick: means of a fiftieth of the entries', class_='note')
    wrong = sum(int((~line.finite).sum()) for line in lines)
    if wrong:
        note = f'{_count(wrong, "value")} NaN or infinite: marked ▼'
        add(figure, 'p', note, class_='note warning')


def _add_values(main: Element, values: dict[str, series.Series]) -> None:
    if not values:
        return
    section = _section(main, 'Values')
    rows = []
    for name, line in values.items():
        row = [name, f'{line.y[-1]:.6g}']
        finite = line.finite
        for find in ('argmin', 'argmax'):
            if finite.any():
                at = getattr(line.y[finite], find)()
                row += [f'{line.y[finite][at]:.6g}', f'{line.x[finite][at]:,.0f}']
            else:
                row += ['', '']
        rows.append([*row, f'{len(line.y):,}'])
    heads = ['name', 'last', 'least', 'in iteration', 'greatest', 'in iteration', 'entries']
    _table(section, heads, rows)


def _add_times(main: Element, run: Run) -> None:
    pace = series.pace(run.log)
    epochs = series.epochs(run.log)
    if pace is None and epochs is None and not run.timings and not run.profile:
        return
    section = _section(main, 'Times')
    grid = add(section, 'div', class_='charts')
    for line, unit in ((pace, 'iteration'), (epochs, 'epoch')):
        if line is None:
            continue
        figure = add(grid, 'figure')
        caption = add(figure, 'figcaption')
        add(caption, 'b', line.name)
        add(caption, 'span', f' {line.y[-1]:.5g}, on average {line.y.mean():.5g}', class_='last')
        chart.draw(figure, [line], unit=unit)
    if run.timings:
        total = sum(timing.seconds for timing in run.timings)
        rows = [
            (t.name, f'{t.calls:,}', _seconds(t.seconds), _seconds(t.seconds / max(t.calls, 1)))
            for t in run.timings
        ]
        box = add(section, 'div', class_='box')
        add(box, 'h3', 'Parts of the loop, since this process began')
        table = _table(box, ['part', 'calls', 'time', 'per call'], rows)
        _add_bars(table, [t.seconds / total if total else 0.0 for t in run.timings])
    if run.profile:
        box = add(section, 'details')
        add(box, 'summary', 'Profile of kernels')
        add(box, 'pre', run.profile)


def _add_bars(table: Element, parts: list[float]) -> None:
    """A last column with a bar for each row."""
    add(tp.cast(Element, table.find('thead/tr')), 'th', '', class_='bar')
    for row, part in zip(table.findall('tbody/tr'), parts, strict=True):
        cell = add(row, 'td', class_='bar', title=f'{part:.1%}')
        svg = add(cell, 'svg', viewBox='0 0 100 8', preserveAspectRatio='none', class_='bar')
        add(svg, 'rect', width=f'{100 * part:.2f}', height=8)


def _add_parameters(main: Element, run: Run) -> None:
    if not run.parameters:
        return
    section = _section(main, 'Parameters')
    if run.parameters_note:
        add(section, 'p', run.parameters_note, class_='note')
    gradients = any(p.gradient is not None for p in run.parameters)
    heads = ['name', 'shape', 'dtype', 'numbers', 'mean', 'std', 'least', 'greatest']
    rows = []
    for p in run.parameters:
        row = [p.path, ' \u00d7 '.join(map(str, p.shape)) or 'scalar', p.dtype, f'{p.count:,}']
        row += [_short(v) for v in (p.mean, p.std, p.least, p.greatest)]
        if gradients:
            row.append('' if p.gradient is None else _short(p.gradient))
        rows.append(row)
    if gradients:
        heads.append('gradient (norm)')
    table = _table(section, heads, rows, text=3)
    for row_, p in zip(table.findall('tbody/tr'), run.parameters, strict=True):
        if p.wrong:
            add(row_[0], 'span', f'{_count(p.wrong, "number")} NaN or infinite', class_='warning')


def _add_files(main: Element, run: Run) -> None:
    if not run.files:
        return
    section = _section(main, 'Files')
    few = run.files[:_MOST_FILES]
    rows = [('', _size(f.size), _date(f.modified)) for f in few]
    table = _table(section, ['name', 'size', 'written'], rows)
    for row, file in zip(table.findall('tbody/tr'), few, strict=True):
        # With the dot no name is a scheme.
        place = './' + urllib.parse.quote(file.name, errors='surrogateescape')
        add(row[0], 'a', file.name, href=place)
    if len(run.files) > len(few):
        add(section, 'p', f'{len(run.files) - len(few):,} older files more', class_='note')


def _add_environment(main: Element, run: Run) -> None:
    if not run.facts:
        return
    section = _section(main, 'Environment')
    table = add(add(section, 'div', class_='scroll'), 'table', class_='facts')
    for name, text in run.facts:
        row = add(table, 'tr')
        add(row, 'th', name, scope='row')
        add(row, 'td', text)


def _add_log(main: Element, run: Run) -> None:
    if not run.log:
        return
    section = _section(main, 'Log')
    few = run.log[-_MOST_ROWS:]
    details = add(section, 'details')
    add(details, 'summary', f'the last {_count(len(few), "entry", "entries")}')
    names = dict.fromkeys([*series.COUNTS, *(key for entry in few for key in entry)])
    _table(details, list(names), ([_cell(e.get(k)) for k in names] for e in few), text=0)


def _cell(value: object) -> str:
    if value is None:
        return ''
    return f'{value:.6g}' if isinstance(value, float) else str(value)


def _short(value: float) -> str:
    return '' if math.isnan(value) else f'{value:.4g}'


def _count(number: int, one: str, many: str = '') -> str:
    return f'{number:,} {one if number == 1 else many or one + "s"}'


def _duration(seconds: float) -> str:
    if not 0 <= seconds < 1e9:
        return f'{seconds:g} s'
    return str(datetime.timedelta(seconds=round(seconds))) if seconds >= 60 else _seconds(seconds)


def _seconds(seconds: float) -> str:
    for unit, size in (('s', 1.0), ('ms', 1e-3), ('µs', 1e-6)):
        if seconds >= size:
            number = seconds / size
            return f'{number:,.0f} {unit}' if number >= 100 else f'{number:.3g} {unit}'
    return '0 s' if seconds <= 0 else f'{seconds * 1e9:.3g} ns'


def _size(size: float) -> str:
    for unit in ('B', 'kB', 'MB'):
        if size < 1000:
            return f'{size:.3g} {unit}'
        size /= 1000
    return f'{size:,.3g} GB'


def _date(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).strftime('%Y-%m-%d %H:%M:%S')
