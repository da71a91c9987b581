"""A headless browser, driven by the DevTools protocol: requests, console output, screenshots."""

import base64
import contextlib
import json
import os
import re
import shutil
import subprocess

NAMES = ('chromium', 'chromium-browser', 'google-chrome')


def why_not():
    """The reason why there is no browser, or None."""
    if not any(map(shutil.which, NAMES)):
        return 'chromium is not installed'
    if 'libasan' in os.environ.get('LD_PRELOAD', ''):
        return 'a browser under the sanitizers of the tests says nothing about the page'
    try:
        import websocket  # noqa: F401
    except ImportError:
        return 'websocket-client is not installed'
    return None


class Page:
    """A page in a browser of its own.

    ``requests`` are the addresses that it requested, ``complaints`` its console output, exceptions
    included.
    """

    def __init__(self, socket):
        self._socket = socket
        self._count = 0
        self._session = None
        self.requests = []
        self.complaints = []
        target = self._call('Target.createTarget', url='about:blank')['targetId']
        attached = self._call('Target.attachToTarget', targetId=target, flatten=True)
        self._session = attached['sessionId']
        for domain in ('Page', 'Network', 'Log', 'Runtime'):
            self._call(f'{domain}.enable')

    def _call(self, method, **params):
        self._count += 1
        message = {'id': self._count, 'method': method, 'params': params}
        if self._session:
            message['sessionId'] = self._session
        self._socket.send(json.dumps(message))
        while (answer := self._receive()).get('id') != self._count:
            pass
        assert 'error' not in answer, (method, answer)
        return answer['result']

    def _receive(self):
        message = json.loads(self._socket.recv())
        method, params = message.get('method'), message.get('params', {})
        if method == 'Network.requestWillBeSent':
            self.requests.append(params['request']['url'])
        elif method in ('Log.entryAdded', 'Runtime.consoleAPICalled', 'Runtime.exceptionThrown'):
            self.complaints.append(params)
        return message

    def open(self, path):
        self._call('Page.navigate', url=path.absolute().as_uri())
        while self._receive().get('method') != 'Page.loadEventFired':
            pass

    def ask(self, expression):
        """Evaluates a JavaScript expression in the page."""
        result = self._call('Runtime.evaluate', expression=expression, returnByValue=True)
        assert 'exceptionDetails' not in result, result
        return result['result'].get('value')

    def move_to(self, x, y):
        self._call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)

    def click(self, x, y):
        for kind in ('mousePressed', 'mouseReleased'):
            self._call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def set_dark(self, dark):
        feature = {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}
        self._call('Emulation.setEmulatedMedia', features=[feature])

    def save_picture(self, path):
        data = self._call('Page.captureScreenshot', captureBeyondViewport=True)['data']
        path.write_bytes(base64.b64decode(data))


@contextlib.contextmanager
def open_browser(folder):
    """Opens a `Page`; the browser keeps its files in a folder, and ends with the block."""
    import websocket

    command = [
        next(filter(None, map(shutil.which, NAMES))),
        '--headless',
        '--no-sandbox',  # which is not available to root
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--disable-background-networking',
        '--no-first-run',
        '--remote-debugging-port=0',
        '--remote-allow-origins=*',
        '--window-size=1300,1400',
        f'--user-data-dir={folder}',
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        line = next(line for line in process.stderr if 'DevTools listening on' in line)
        address = re.search(r'ws://\S+', line)[0]
        socket = websocket.create_connection(address, timeout=60)
        try:
            yield Page(socket)
        finally:
            socket.close()
    finally:
        process.terminate()
        process.communicate()
