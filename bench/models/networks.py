"""The layers of well-known networks."""

from network import Network


def mobilenet_v1():
    n = Network("mobilenet_v1_224", 224)
    x = n.conv(n.input, 32, 3, 2)
    for outputs, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                            *[(512, 1)] * 5, (1024, 2), (1024, 1)):
        x = n.conv(n.depthwise(x, 3, stride), outputs)
    n.softmax(n.dense(n.mean(x), 1000))
    return n


def mobilenet_v2():
    n = Network("mobilenet_v2_224", 224)
    x = n.conv(n.input, 32, 3, 2)
    for expansion, outputs, repeats, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                                                (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                                                (6, 320, 1, 1)):
        for i in range(repeats):
            inner = n.conv(x, expansion * x.shape[3]) if expansion > 1 else x
            inner = n.depthwise(inner, 3, stride if i == 0 else 1)
            y = n.conv(inner, outputs, act="none")
            x = n.add(x, y) if i > 0 else y
    n.softmax(n.dense(n.mean(n.conv(x, 1280)), 1000))
    return n


def mobilenet_v3_large():
    n = Network("mobilenet_v3_large_224", 224)

    def act(x, swish):
        return n.hard_swish(x) if swish else x

    def name_of(swish):
        return "none" if swish else "relu"

    def squeeze(x, channels):
        gate = n.conv(n.conv(n.mean(x), channels), x.shape[3], act="none")
        return n.mul(x, n.hard_sigmoid(gate))

    x = n.hard_swish(n.conv(n.input, 16, 3, 2, act="none"))
    for kernel, inner, outputs, gated, swish, stride in (
            (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2),
            (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2),
            (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
            (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2),
            (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)):
        y = x
        if inner != x.shape[3]:
            y = act(n.conv(x, inner, act=name_of(swish)), swish)
        y = act(n.depthwise(y, kernel, stride, name_of(swish)), swish)
        if gated:
            y = squeeze(y, (inner // 4 + 7) // 8 * 8)
        y = n.conv(y, outputs, act="none")
        x = n.add(x, y) if stride == 1 and x.shape[3] == outputs else y
    x = n.mean(n.hard_swish(n.conv(x, 960, act="none")))
    x = n.hard_swish(n.conv(x, 1280, act="none"))
    n.softmax(n.dense(x, 1000))
    return n


def resnet_50():
    n = Network("resnet_50_224", 224)
    x = n.pool("max_pool", n.conv(n.input, 64, 7, 2), 3, 2)
    for width, repeats, first_stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(repeats):
            stride = first_stride if i == 0 else 1
            y = n.conv(n.conv(x, width), width, 3, stride)
            y = n.conv(y, 4 * width, act="none")
            shortcut = n.conv(x, 4 * width, 1, stride, "none") if i == 0 else x
            x = n.add(shortcut, y, "relu")
    n.softmax(n.dense(n.mean(x), 1000))
    return n


def inception_v3():
    n = Network("inception_v3_299", 299)
    conv = n.conv

    def chain(x, *convolutions):
        for outputs, kernel in convolutions:
            x = conv(x, outputs, kernel)
        return x

    x = conv(conv(conv(n.input, 32, 3, 2, padding="valid"), 32, 3, padding="valid"), 64, 3)
    x = n.pool("max_pool", x, 3, 2, "valid")
    x = conv(conv(x, 80), 192, 3, padding="valid")
    x = n.pool("max_pool", x, 3, 2, "valid")
    for pooled in (32, 64, 64):
        x = n.concat([conv(x, 64), chain(x, (48, 1), (64, 5)), chain(x, (64, 1), (96, 3), (96, 3)),
                      conv(n.pool("average_pool", x, 3, 1), pooled)])
    x = n.concat([conv(x, 384, 3, 2, padding="valid"),
                  conv(chain(x, (64, 1), (96, 3)), 96, 3, 2, padding="valid"),
                  n.pool("max_pool", x, 3, 2, "valid")])
    for w in (128, 160, 160, 192):
        x = n.concat([conv(x, 192), chain(x, (w, 1), (w, (1, 7)), (192, (7, 1))),
                      chain(x, (w, 1), (w, (7, 1)), (w, (1, 7)), (w, (7, 1)), (192, (1, 7))),
                      conv(n.pool("average_pool", x, 3, 1), 192)])
    x = n.concat([conv(conv(x, 192), 320, 3, 2, padding="valid"),
                  conv(chain(x, (192, 1), (192, (1, 7)), (192, (7, 1))), 192, 3, 2,
                       padding="valid"),
                  n.pool("max_pool", x, 3, 2, "valid")])
    for _ in range(2):
        a, b = conv(x, 384), chain(x, (448, 1), (384, 3))
        x = n.concat([conv(x, 320), conv(a, 384, (1, 3)), conv(a, 384, (3, 1)),
                      conv(b, 384, (1, 3)), conv(b, 384, (3, 1)),
                      conv(n.pool("average_pool", x, 3, 1), 192)])
    n.softmax(n.dense(n.mean(x), 1000))
    return n


def vgg_16():
    n = Network("vgg_16_224", 224)
    x = n.input
    for outputs, repeats in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(repeats):
            x = n.conv(x, outputs, 3)
        x = n.pool("max_pool", x, 2, 2)
    x = n.dense(n.dense(x, 4096, "relu"), 4096, "relu")
    n.softmax(n.dense(x, 1000))
    return n


# All networks, by their names.
ALL = {"mobilenet_v1_224": mobilenet_v1, "mobilenet_v2_224": mobilenet_v2,
       "mobilenet_v3_large_224": mobilenet_v3_large, "resnet_50_224": resnet_50,
       "inception_v3_299": inception_v3, "vgg_16_224": vgg_16}
