import keras
import tensorflow as tf

from mtl_tf.layers.lstm import lstm_gates, time_product
from mtl_tf.layers.recurrence import Recurrence, Result
from mtl_tf.layers.steps import Operations, Tensors

FORM = "a"

def _step(ops: Operations, inputs: Tensors, state: Tensors) -> Tensors:
    hidden, meta_hidden = state["hidden"], state["meta_hidden"]
    m = meta_hidden.shape[-1]
    joint = tf.concat([meta_hidden, hidden], -1)
    if "c" in FORM:
        both = ops.matmul(joint, "joint")
        a, q = both[..., :4*m], both[..., 4*m:]
    else:
        a = ops.matmul(joint, "meta_recurrent")
        q = ops.matmul(hidden, "factor_recurrent")
    a += inputs["meta"]
    meta_memory, meta_hidden = lstm_gates(ops, a, state["meta_memory"])
    z = ops.matmul(meta_hidden, "vector")
    q += inputs["factors"]
    G, B, n = z.shape
    if "4" in FORM:
        outs = []
        for k in range(4):
            y = tf.concat([q[..., k*n:(k+1)*n] * z, z], -1)
            outs.append(ops.matmul(y, f"basic{k}"))
        i, f, o, g = outs
        i, f, o = map(ops.sigmoid, (i, f, o))
        g = ops.tanh(g)
    else:
        q = tf.transpose(tf.reshape(q, [G, B, 4, n]), [0, 2, 1, 3])
        z = z[:, None]
        scaled = q * z
        y = tf.concat([scaled, tf.broadcast_to(z, tf.shape(scaled))], -1)
        b = ops.matmul(y, "basic")
        i, f, o = tf.unstack(ops.sigmoid(b[:, :3]), axis=1)
        g = ops.tanh(b[:, 3])
    memory = g * i + state["memory"] * f
    return {
        "hidden": o * ops.tanh(memory),
        "memory": memory,
        "meta_hidden": meta_hidden,
        "meta_memory": meta_memory,
    }

def _project(x, weights):
    if "p" in FORM and weights["factor_kernel"].shape[0] == 1:
        w = tf.concat([weights["meta_kernel"], weights["factor_kernel"][0]], 1)
        both = time_product(x, w)
        n = weights["meta_kernel"].shape[1]
        return {"meta": both[..., :n] + weights["meta_bias"], "factors": both[..., n:]}
    return {
        "meta": time_product(x, weights["meta_kernel"]) + weights["meta_bias"],
        "factors": time_product(x, weights["factor_kernel"]),
    }

class Probe:
    def __init__(self, tasks, D=200, h=100, m=40, z=40):
        r = lambda *s: tf.Variable(tf.random.uniform(s, -.1, .1))
        self.mk, self.mr, self.mb, self.vec = r(D,4*m), r(h+m,4*m), r(4*m), r(m,z)
        self.fk, self.fr, self.P, self.B = r(tasks,D,4*z), r(tasks,h,4*z), r(tasks,4,z,h), r(tasks,4,z,h)
        self.vars = [self.mk,self.mr,self.mb,self.vec,self.fk,self.fr,self.P,self.B]
        self.rec = Recurrence(_step, _project)
        self.h, self.m = h, m
    def __call__(self, x, mask, task, training=True):
        G, B = x.shape[:2]
        g = lambda v: tf.gather(v, task)
        fr = g(self.fr)
        w = {"meta_kernel": self.mk.value(), "meta_bias": self.mb.value(), "vector": self.vec.value(), "factor_kernel": g(self.fk)}
        pb = tf.concat([g(self.P), g(self.B)], 2)
        if "c" in FORM:
            w["joint"] = tf.concat([tf.tile(self.mr[None], [G,1,1]), tf.concat([tf.zeros([G,self.m,fr.shape[-1]]), fr], 1)], 2)
        else:
            w["meta_recurrent"] = self.mr.value()
            w["factor_recurrent"] = fr
        if "4" in FORM:
            for k in range(4): w[f"basic{k}"] = pb[:, k]
        else:
            w["basic"] = pb
        zero = lambda n: tf.zeros([G,B,n])
        s = {"hidden": zero(self.h), "memory": zero(self.h), "meta_hidden": zero(self.m), "meta_memory": zero(self.m)}
        return self.rec(x, mask, w, s, training=training).state["hidden"]
