"""Importing chainer beside an installed Chainer 7 warns."""

import os
import subprocess
import sys

import chainer
import pytest
from chainer._diagnostics import other_chainer


@pytest.mark.parametrize(
    ('name', 'version'),
    [
        ('chainer-7.8.1.dist-info', '7.8.1'),
        ('chainer-7.8.1.post1-py3.11.egg-info', '7.8.1.post1'),
        ('chainer-6.0.0rc1-py3.8.egg-info', '6.0.0rc1'),
        ('chainerx-8.0.0a1.dist-info', None),
        ('chainercv-0.13.1.dist-info', None),
        ('chainer-data', None),
    ],
)
def test_what_is_found(name, version, tmp_path, monkeypatch):
    (tmp_path / name).mkdir()
    monkeypatch.setattr(sys, 'path', ['/no/such/folder', str(tmp_path)])
    assert other_chainer.find_other() == (version and (version, str(tmp_path)))


def test_the_warning_names_the_line_of_the_import(tmp_path):
    (tmp_path / 'chainer-7.8.1.dist-info').mkdir()
    script = tmp_path / 'script.py'
    script.write_text('\nimport chainer\n')
    package = os.path.dirname(os.path.dirname(chainer.__file__))
    run = subprocess.run(
        [sys.executable, script],
        env=os.environ | {'PYTHONPATH': os.pathsep.join([package, str(tmp_path)])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f'{script}:2: UserWarning: Chainer 7.8.1 is installed, too, in {tmp_path}' in run.stderr
