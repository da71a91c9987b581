"""Networks for sequences as people write them in PyTorch, a few thousand weights each."""

import math

import torch
import torch.nn.functional as F
import torchvision
from torch import nn


class TextRNN(nn.Module):
    """Embedded words through recurrent layers of both directions."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 8)
        self.lstm = nn.LSTM(8, 10, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(20, 8, batch_first=True)
        self.rnn = nn.RNN(8, 6, nonlinearity='tanh', batch_first=True)
        self.fc = nn.Linear(26, 5)

    def forward(self, words):
        x, (h, _) = self.lstm(self.embed(words))
        x, last = self.gru(x)
        x, _ = self.rnn(x)
        mask = (words != 0).unsqueeze(-1).to(x.dtype)
        mean = (x * mask).sum(1) / mask.sum(1).clamp(min=1)
        return self.fc(torch.cat([h[-2], h[-1], mean], -1)[:, :26]), last.squeeze(0)


class Transformer(nn.Module):
    """Encoder and decoder of PyTorch, with masks."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.core = nn.Transformer(16, 2, 1, 1, 32, dropout=0.1, batch_first=True)
        self.register_buffer('positions', torch.sin(torch.arange(16 * 20.0)).view(20, 16))

    def forward(self, source, target):
        pads = source == 0
        x = self.embed(source) * math.sqrt(16) + self.positions[: source.size(1)]
        y = self.embed(target) * math.sqrt(16) + self.positions[: target.size(1)]
        causal = torch.triu(torch.full((target.size(1), target.size(1)), float('-inf')), diagonal=1)
        h = self.core(
            x,
            y,
            tgt_mask=causal,
            src_key_padding_mask=pads,
            memory_key_padding_mask=pads,
            tgt_is_causal=True,  # or PyTorch looks at the mask, which its exporter refuses
        )
        return F.linear(h, self.embed.weight)


class RMSNorm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class GPT(nn.Module):
    """A decoder: rotary positions, grouped heads, a gated layer, and the weights of words twice."""

    def __init__(self, n=16, heads=4):
        super().__init__()
        self.heads = heads
        self.embed = nn.Embedding(32, n)
        self.norm1, self.norm2, self.norm3 = RMSNorm(n), RMSNorm(n), nn.LayerNorm(n)
        self.q, self.k, self.v = (nn.Linear(n, m, bias=False) for m in (n, n // 2, n // 2))
        self.proj = nn.Linear(n, n, bias=False)
        self.gate, self.up, self.down = nn.Linear(n, 24), nn.Linear(n, 24), nn.Linear(24, n)
        self.head = nn.Linear(n, 32, bias=False)
        self.head.weight = self.embed.weight

    def rotate(self, x):
        half = x.size(-1) // 2
        steps = torch.arange(x.size(2), dtype=x.dtype)
        angles = torch.outer(steps, 10000.0 ** (-torch.arange(half, dtype=x.dtype) / half))
        x1, x2 = x[..., :half], x[..., half:]
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([x1 * cos - x2 * sin, x1 * sin + x2 * cos], -1)

    def forward(self, words):
        x = self.embed(words)
        b, t, n = x.shape
        y = self.norm1(x)
        q = self.q(y).view(b, t, self.heads, -1).transpose(1, 2)
        k = self.k(y).view(b, t, self.heads // 2, -1).transpose(1, 2)
        v = self.v(y).view(b, t, self.heads // 2, -1).transpose(1, 2)
        k, v = (a.repeat_interleave(2, dim=1) for a in (k, v))
        y = F.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, n))
        y = self.norm2(x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return self.head(self.norm3(x))


class ViT(nn.Module):
    """Patches of an image, a token for its class, layers of an encoder."""

    def __init__(self, n=16):
        super().__init__()
        self.patches = nn.Conv2d(3, n, 8, 8)
        self.token = nn.Parameter(torch.linspace(-1, 1, n).view(1, 1, n))
        self.positions = nn.Parameter(torch.cos(torch.arange(17.0 * n)).view(1, 17, n))
        layer = nn.TransformerEncoderLayer(
            n, 4, 32, activation='gelu', batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 1, nn.LayerNorm(n), enable_nested_tensor=False)
        self.attention = nn.MultiheadAttention(n, 2, batch_first=True)
        self.fc = nn.Linear(n, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.size(0), -1, -1), x], 1) + self.positions
        x = self.encoder(x)
        pooled, weights = self.attention(x[:, :1], x, x)
        return self.fc(pooled[:, 0]), weights


class WaveNet(nn.Module):
    """Sound: dilated filters with gates, weights with norms, an up-sampled output."""

    def __init__(self):
        super().__init__()
        self.first = nn.utils.parametrizations.weight_norm(nn.Conv1d(1, 8, 3, padding=1))
        self.layers = nn.ModuleList(nn.Conv1d(8, 16, 3, dilation=d) for d in (1, 2, 4))
        self.mix = nn.Conv1d(8, 8, 1)
        self.up = nn.ConvTranspose1d(8, 4, 4, 2, 1)
        self.log_scale = nn.Parameter(torch.tensor([0.5, -0.5, 0.25, 0.0]))

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            y = F.glu(layer(F.pad(x, (2 * layer.dilation[0], 0))), dim=1)
            x = x + self.mix(y)
        x = torch.einsum('bct,c->bct', self.up(x), self.log_scale.exp())
        envelope = torch.cumsum(x.abs(), -1) / torch.arange(1, x.size(-1) + 1)
        return x, F.hardtanh(envelope.std(-1), 0.0, 2.0)


class Detector(nn.Module):
    """Boxes on a grid: the best of them by TopK, without overlaps, and features under them."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.ReLU()
        )
        self.scores = nn.Conv2d(8, 3, 1)
        self.offsets = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        features = self.backbone(x)
        scores = self.scores(features).sigmoid().flatten(2).transpose(1, 2)[0]
        offsets = self.offsets(features).flatten(2).transpose(1, 2)[0]
        h, w = features.shape[2:]
        rows, columns = torch.meshgrid(torch.arange(h), torch.arange(w), indexing='ij')
        centers = torch.stack([columns, rows], -1).view(-1, 2).to(x.dtype) * 4 + 2
        sides = 6 * offsets[:, 2:].exp()
        centers = centers + 4 * offsets[:, :2]
        boxes = torch.cat([centers - sides / 2, centers + sides / 2], 1)
        best, labels = scores.max(1)
        best, order = torch.topk(best, 20)
        boxes, labels = boxes[order], labels[order]
        kept = torchvision.ops.nms(boxes, best, 0.3)
        boxes, best, labels = boxes[kept], best[kept], labels[kept]
        pooled = torchvision.ops.roi_align(
            features, torch.cat([torch.zeros_like(best).unsqueeze(1), boxes], 1), 3, 0.25, 2
        )
        return boxes, best, labels, pooled


class Loops(nn.Module):
    """Steps of a cell, unrolled, and values that depend on conditions, sorted and scattered."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 6)
        self.lstm_cell = nn.LSTMCell(6, 6)
        self.table = nn.Parameter(torch.linspace(-1, 1, 60).view(10, 6))

    def forward(self, x, index):
        h = x.new_zeros(x.size(0), 6)
        c = torch.zeros_like(h)
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
            h, c = self.lstm_cell(h, (h, c))
        h = torch.where(h > 0, h, F.celu(h, 0.5))
        rows = self.table.index_select(0, index).masked_fill(h < -0.05, -1.0)
        values, order = torch.sort(h + rows, dim=1, descending=True)
        sums = torch.zeros(10, 6).scatter_add(0, index.unsqueeze(1).expand_as(values), values)
        picked = torch.gather(c, 1, order[:, :3])
        return sums, picked, torch.logsumexp(values, 1), torch.norm(rows, dim=1), order
