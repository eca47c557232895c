# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models, optimizers, and files of them."""
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
import tenon as tn
from tenon import nn, optim


class Net(nn.Module):
    def __init__(self, key):
        a, b, c = key.split(3)
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3, key=a, padding=1), nn.BatchNorm(4, key=b), tn.relu, nn.Dropout(0.1))
        self.head = nn.Linear(4 * 16, 3, key=c)
        self.scale = nn.Parameter(tn.asarray(1.0))
        self.seen = nn.Buffer(tn.asarray(0))
        self.name = "net"

    def __call__(self, x, mode=None):
        self.seen = nn.Buffer(self.seen + x.shape[0])
        return self.head(nn.flatten(self.body(x, mode=mode))) * self.scale


NAMES = ["body.0.weight", "body.0.bias", "body.1.weight", "body.1.bias", "body.1.running_mean", "body.1.running_var",
         "body.1.num_batches_tracked", "head.weight", "head.bias", "scale", "seen"]


def data():
    x = np.random.default_rng(0).normal(size=(32, 1, 4, 4)).astype(np.float32)
    return tn.asarray(x), tn.asarray((x.sum((1, 2, 3)) > 0).astype(np.int64) + (x[:, 0, 0, 0] > 1))


def test_names_are_those_of_checkpoints():
    model = Net(tn.random.Key(0))
    assert list(nn.named_tensors(model)) == NAMES
    assert list(nn.named_parameters(model)) == [n for n in NAMES if "running" not in n and "batches" not in n and n != "seen"]
    assert nn.count(model) == 4 * 9 + 4 + 4 + 4 + 64 * 3 + 3 + 1
    assert "BatchNorm" in repr(model) and "Net(" in repr(model)


def train(steps, compiled):
    model, (x, y) = Net(tn.random.Key(0)), data()
    optimizer = optim.adamw(learning_rate=optim.warmup_cosine(3e-2, 2, steps))
    state = optimizer.init(model)

    def step(model, state, key, x, y):
        mode = nn.Mode.training(key)
        loss, gradients = nn.value_and_grad(model, lambda m: nn.cross_entropy(m(x, mode=mode), y))
        optimizer.update(model, gradients, state)
        return model, state, loss
    run = tn.compile(step) if compiled else step
    losses = []
    for key in tn.random.Key(1).split(steps):
        model, state, loss = run(model, state, key, x, y)
        losses.append(loss.item())
    if compiled:
        assert run.traces == 1
    return model, losses


def test_it_learns():
    model, losses = train(30, compiled=True)
    assert losses[-1] < 0.5 * losses[0]
    assert model.seen.item() == 30 * 32 and abs(model.body[1].running_mean.numpy()).max() > 0
    assert model.body[1].num_batches_tracked.item() == 30 and isinstance(model.seen, nn.Buffer) and model.name == "net"
    _, again = train(3, compiled=False)
    np.testing.assert_allclose(again, train(3, compiled=True)[1], rtol=1e-5)


def test_a_compiled_step_works_on_a_copy():
    layer = nn.Linear(2, 2, key=tn.random.Key(0))
    before = layer.weight.tolist()

    @tn.compile
    def step(layer):
        layer.weight = layer.weight * 2
        return layer
    assert step(layer).weight.tolist() == (layer.weight * 2).tolist() and layer.weight.tolist() == before


def test_gradients_of_models_as_structures():
    model = Net(tn.random.Key(0))
    x, y = data()
    loss, gradients = tn.value_and_grad(lambda m: nn.cross_entropy(m(x), y))(model)
    flat = nn.value_and_grad(model, lambda m: nn.cross_entropy(m(x), y))[1]
    assert isinstance(gradients, Net)
    for a, b in zip(nn.named_parameters(gradients).values(), flat):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-7)
    optimizer = optim.sgd(learning_rate=0.1)
    optimizer.update(model, gradients, optimizer.init(model))
    assert nn.cross_entropy(model(x), y).item() < loss.item()


def test_frozen_parameters_stay():
    model = nn.Sequential(nn.Linear(2, 2, key=tn.random.Key(0)), nn.Linear(2, 1, key=tn.random.Key(1)))
    before = model[0].weight.tolist()
    assert nn.freeze(model[0]) == 2
    loss, gradients = nn.value_and_grad(model, lambda m: (m(tn.ones((3, 2))) ** 2).sum())
    assert len(gradients) == 2
    optimizer = optim.sgd(learning_rate=0.1)
    optimizer.update(model, gradients, optimizer.init(model))
    assert model[0].weight.tolist() == before
    assert nn.freeze(model, False) == 2


def test_files(tmp_path):
    model, _ = train(3, compiled=True)
    optimizer = optim.adamw()
    state = optimizer.init(model)
    path = tmp_path / "model.safetensors"
    nn.save(path, model, optimizer, state, metadata={"step": "2"})
    other = Net(tn.random.Key(9))
    assert nn.load(path, other, optimizer, optimizer.init(other)) == {"step": "2"}
    for name, x in nn.named_tensors(model).items():
        assert x.tolist() == nn.named_tensors(other)[name].tolist(), name
    with pytest.raises(ValueError, match="weight"):
        nn.load(path, nn.Linear(2, 2, key=tn.random.Key(0)))
    other.version = 2
    again = pickle.loads(pickle.dumps({"a": list(nn.named_tensors(other).values())}))
    assert len(again["a"]) == len(NAMES)


@dataclass
class Pair:
    first: nn.Linear
    rate: float


def test_models_of_other_structures():
    model = {"pair": Pair(nn.Linear(2, 1, key=tn.random.Key(0)), 0.5), "list": [nn.Parameter(tn.ones(1))]}
    assert list(nn.named_parameters(model)) == ["pair.first.weight", "pair.first.bias", "list.0"]
    loss, gradients = nn.value_and_grad(model, lambda m: (m["pair"].first(tn.ones((1, 2))) * m["list"][0]).sum())
    assert len(gradients) == 3


def test_layers_without_a_key_are_declared_alone():
    layer = nn.Linear(2, 3)
    with pytest.raises(ValueError, match="made without a key"):
        layer(tn.ones((1, 2)))
    assert nn.init(layer, tn.random.Key(0))(tn.ones((1, 2))).shape == (1, 3)


def test_wrong_use():
    key = tn.random.Key(0)
    for wrong, error, text in [
            (lambda: nn.Linear(2, "x", key=key), TypeError, r"\[Linear\] expected outputs as an integer"),
            (lambda: nn.Linear(2, 3, key=5), TypeError, "Key"),
            (lambda: nn.Linear(-2, 3, key=key), ValueError, "Linear|linear"),
            (lambda: nn.Conv2d(1, 2, (3, 3, 3), key=key), TypeError, "integer or 2 of them"),
            (lambda: nn.Conv2d(1, 2, 3, key=key, padding_mode="wild"), ValueError, "zeros"),
            (lambda: nn.Linear(2, 3, key=key)(tn.ones((1, 4))), ValueError, "linear|Linear"),
            (lambda: setattr(nn.Linear(2, 3, key=key), "weight", tn.ones(3)), ValueError, "3, 2"),
            (lambda: setattr(nn.Linear(2, 3, key=key, bias=False), "bias", tn.ones(3)), ValueError, "layer with bias"),
            (lambda: nn.cross_entropy(tn.ones((2, 3)), tn.asarray([0])), ValueError, "cross_entropy"),
            (lambda: nn.cross_entropy(tn.ones((2, 3)), tn.asarray([0, 1]), reduction="most"), ValueError, "mean"),
            (lambda: optim.adam(learning_rate=-1.0), ValueError, "rate"),
            (lambda: optim.adam(learning_rate="fast"), TypeError, "learning_rate"),
            (lambda: optim.chain([optim.sgd(), 5]), TypeError, "optimizer"),
            (lambda: nn.Sequential(5), TypeError, "functions"),
            (lambda: optim.sgd().init(nn.Linear(2, 3)), ValueError, "weight|value"),
            (lambda: nn.Dropout(2.0), ValueError, "rate|dropout"),
    ]:
        with pytest.raises(error, match=text):
            wrong()
