"""Networks for images as people write them in PyTorch, a few thousand weights each."""

import torch
import torch.nn.functional as F
from torch import nn


def conv_norm(n_in, n_out, size=3, stride=1, groups=1, act=nn.ReLU):
    layers = [
        nn.Conv2d(n_in, n_out, size, stride, size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(n_out),
    ]
    return nn.Sequential(*layers, *([act()] if act else []))


class Bottleneck(nn.Module):
    def __init__(self, n_in, n_mid, n_out, stride):
        super().__init__()
        self.body = nn.Sequential(
            conv_norm(n_in, n_mid, 1),
            conv_norm(n_mid, n_mid, 3, stride),
            conv_norm(n_mid, n_out, 1, act=None),
        )
        self.shortcut = (
            nn.Identity() if n_in == n_out else conv_norm(n_in, n_out, 1, stride, act=None)
        )

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


class ResNet(nn.Module):
    """Residual blocks behind a stem of stride 4."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv_norm(3, 8, 7, 2), nn.MaxPool2d(3, 2, 1))
        self.blocks = nn.Sequential(
            Bottleneck(8, 4, 16, 1), Bottleneck(16, 4, 16, 1), Bottleneck(16, 8, 24, 2)
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(24, 10)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.blocks(self.stem(x))), 1))


class SqueezeExcite(nn.Module):
    def __init__(self, n, gate, act):
        super().__init__()
        self.down = nn.Conv2d(n, n // 4, 1)
        self.up = nn.Conv2d(n // 4, n, 1)
        self.gate, self.act = gate(), act()

    def forward(self, x):
        return x * self.gate(self.up(self.act(self.down(x.mean((2, 3), keepdim=True)))))


class InvertedResidual(nn.Module):
    def __init__(self, n_in, n_mid, n_out, size, stride, act, gate):
        super().__init__()
        self.body = nn.Sequential(
            conv_norm(n_in, n_mid, 1, act=act),
            conv_norm(n_mid, n_mid, size, stride, n_mid, act),
            SqueezeExcite(n_mid, gate, nn.ReLU if gate is nn.Hardsigmoid else nn.SiLU)
            if gate
            else nn.Identity(),
            conv_norm(n_mid, n_out, 1, act=None),
        )
        self.is_residual = stride == 1 and n_in == n_out

    def forward(self, x):
        y = self.body(x)
        return x + y if self.is_residual else y


class MobileNet(nn.Module):
    """The second and the third version: ReLU6, then hard swish with squeeze and excitation."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv_norm(3, 8, 3, 2, act=nn.ReLU6),
            InvertedResidual(8, 16, 8, 3, 1, nn.ReLU6, None),
            InvertedResidual(8, 16, 12, 5, 2, nn.Hardswish, nn.Hardsigmoid),
            InvertedResidual(12, 24, 12, 3, 1, nn.Hardswish, nn.Hardsigmoid),
        )
        self.head = nn.Sequential(
            nn.Linear(12, 16), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(16, 10)
        )

    def forward(self, x):
        return self.head(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


class EfficientNet(nn.Module):
    """Swish everywhere; the mean over pixels as a reduction."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv_norm(3, 8, 3, 2, act=nn.SiLU),
            InvertedResidual(8, 16, 8, 3, 1, nn.SiLU, nn.Sigmoid),
            InvertedResidual(8, 24, 16, 5, 2, nn.SiLU, nn.Sigmoid),
        )
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        return F.log_softmax(self.fc(self.features(x).mean([-2, -1])), dim=-1)


class VggSqueeze(nn.Module):
    """Plain convolutions, and fire modules behind poolings that round up."""

    def __init__(self):
        super().__init__()
        self.vgg = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(8, 8, 3, padding='same', padding_mode='reflect'),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, ceil_mode=True),
        )
        self.squeeze = nn.Conv2d(8, 4, 1)
        self.expand1 = nn.Conv2d(4, 8, 1)
        self.expand3 = nn.Conv2d(4, 8, 3, padding=1)
        self.pool = nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False)
        self.fc = nn.Sequential(nn.Linear(16 * 4 * 4, 16), nn.ELU(), nn.Dropout(), nn.Linear(16, 5))

    def forward(self, x):
        x = F.relu(self.squeeze(self.vgg(x)))
        x = torch.cat([F.relu(self.expand1(x)), F.relu(self.expand3(x))], 1)
        x = F.max_pool2d(self.pool(x), 2)
        return self.fc(x.view(x.size(0), -1)).softmax(1)


class DenseInception(nn.Module):
    """Concatenated features; branches of 1 x 7 and 7 x 1 filters."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
        self.dense = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(n), nn.ReLU(), nn.Conv2d(n, 4, 3, 1, 1, bias=False))
            for n in (8, 12, 16)
        )
        self.transition = nn.Sequential(conv_norm(20, 8, 1), nn.AvgPool2d(2, 2))
        self.branch1 = conv_norm(8, 4, 1)
        self.branch7 = nn.Sequential(
            nn.Conv2d(8, 4, (1, 7), padding=(0, 3)), nn.Conv2d(4, 4, (7, 1), padding=(3, 0))
        )
        self.branch_dilated = nn.Conv2d(8, 4, 3, padding=2, dilation=2)
        self.norm = nn.LocalResponseNorm(3)
        self.fc = nn.Linear(20, 6)

    def forward(self, x):
        features = [self.stem(x)]
        for layer in self.dense:
            features.append(layer(torch.cat(features, 1)))
        x = self.transition(torch.cat(features, 1))
        pooled = F.avg_pool2d(x, 3, stride=1, padding=1)
        x = torch.cat([self.branch1(x), self.branch7(x), self.branch_dilated(x), pooled], 1)
        x = self.norm(F.leaky_relu(x, 0.1))
        return self.fc(F.adaptive_max_pool2d(x, (1, 1)).squeeze(-1).squeeze(-1))


class ShuffleNet(nn.Module):
    """Halves of the channels, shuffled; grouped convolutions."""

    def __init__(self):
        super().__init__()
        self.stem = conv_norm(3, 12, 3, 2)
        self.branches = nn.ModuleList(
            nn.Sequential(
                conv_norm(6, 6, 1), conv_norm(6, 6, 3, 1, 6, act=None), conv_norm(6, 6, 1)
            )
            for _ in range(2)
        )
        self.grouped = nn.Conv2d(12, 12, 3, 2, 1, groups=3)
        self.fc = nn.Linear(12, 10)

    def forward(self, x):
        x = self.stem(x)
        for branch in self.branches:
            x1, x2 = x.chunk(2, dim=1)
            x = torch.cat([x1, branch(x2)], 1)
            b, c, h, w = x.shape
            x = x.view(b, 2, c // 2, h, w).transpose(1, 2).contiguous().view(b, c, h, w)
        return self.fc(torch.amax(self.grouped(x), dim=(2, 3)))


class UNet(nn.Module):
    """Down and up again: transposed convolutions, resized images, norms over groups and pixels."""

    def __init__(self):
        super().__init__()
        self.down1 = nn.Sequential(nn.Conv2d(1, 6, 3, 1, 1), nn.GroupNorm(2, 6), nn.Mish())
        self.down2 = nn.Sequential(
            nn.Conv2d(6, 8, 3, 2, 1, bias=False),
            nn.InstanceNorm2d(8, affine=True),
            nn.Softplus(),
        )
        self.middle = nn.Sequential(nn.Conv2d(8, 12, 3, 2, 1), nn.GELU())
        self.up = nn.ConvTranspose2d(12, 8, 3, 2, 1, output_padding=1)
        self.side = nn.Conv2d(16, 6, 1)
        self.out = nn.Conv2d(12, 2, 3, padding=1)

    def forward(self, x):
        x1 = self.down1(x)
        x2 = self.down2(x1)
        x3 = self.middle(x2)
        x = self.side(torch.cat([x2, self.up(x3)], 1))
        x = F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False)
        coarse = F.interpolate(x3, size=x.shape[2:], mode='nearest')[:, :2]
        return torch.sigmoid(self.out(torch.cat([x1, x], 1))), torch.tanh(coarse)


class SuperResolution(nn.Module):
    """Pixel shuffle, beside a bicubic image; a shift from `grid_sample`."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.ReplicationPad2d(2), nn.Conv2d(3, 8, 5), nn.PReLU(8), nn.Conv2d(8, 12, 3, 1, 1)
        )
        self.shift = nn.Parameter(torch.tensor([0.125, -0.25]))

    def forward(self, x):
        y = F.pixel_shuffle(self.body(x), 2)
        large = F.interpolate(x, scale_factor=2.0, mode='bicubic', align_corners=False)
        eye = torch.eye(2, dtype=x.dtype).unsqueeze(0).expand(x.size(0), 2, 2)
        theta = torch.cat([eye, self.shift.view(1, 2, 1).expand(x.size(0), 2, 1)], 2)
        rows = torch.linspace(-1, 1, 20).view(1, 20, 1).expand(x.size(0), 20, 24)
        columns = torch.linspace(-1, 1, 24).view(1, 1, 24).expand(x.size(0), 20, 24)
        places = torch.stack([columns, rows, torch.ones_like(rows)], -1).view(x.size(0), -1, 3)
        grid = torch.bmm(places, theta.transpose(1, 2)).view(x.size(0), 20, 24, 2)
        moved = F.grid_sample(large, grid, padding_mode='border', align_corners=True)
        return torch.clamp(y + moved, -2, 2)


class ConvNeXt(nn.Module):
    """Layer norms with channels last, scaled layers, windows that are rolled."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 4, 4)
        self.depthwise = nn.Conv2d(12, 12, 7, padding=3, groups=12)
        self.norm = nn.LayerNorm(12, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(12, 32), nn.GELU(approximate='tanh'), nn.Linear(32, 12))
        self.scale = nn.Parameter(torch.full((12,), 0.5))
        self.qkv = nn.Linear(12, 36)
        self.bias = nn.Parameter(torch.linspace(-1, 1, 16 * 16).view(1, 16, 16))
        self.fc = nn.Linear(12, 10)

    def forward(self, x):
        x = self.stem(x)
        y = self.depthwise(x).permute(0, 2, 3, 1)
        x = x + (self.scale * self.mlp(self.norm(y))).permute(0, 3, 1, 2)
        x = torch.roll(x.permute(0, 2, 3, 1), (-2, -2), (1, 2))
        b, h, w, c = x.shape
        windows = x.view(b, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q, k, v = self.qkv(windows).chunk(3, -1)
        y = torch.softmax(q @ k.transpose(-1, -2) / 12**0.5 + self.bias, -1) @ v
        y = y.view(b, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        x = x + torch.roll(y, (2, 2), (1, 2))
        return self.fc(x.mean((1, 2)))
