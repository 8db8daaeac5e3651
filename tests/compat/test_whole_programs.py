"""Programs as they were written for TensorFlow 1, run unchanged by `pullback run`."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import run_program

WASSERSTEIN = """
    from __future__ import print_function
    import numpy as np
    import tensorflow as tf
    import tensorflow.contrib.layers as tcl
    from tensorflow.contrib import slim
    tf.flags.DEFINE_integer("iters", 3, "")
    FLAGS = tf.flags.FLAGS
    def lrelu(x, a=0.2): return tf.maximum(x, a*x)
    def gen(z, reuse=None):
        with tf.variable_scope("gen", reuse=reuse):
            h = tf.layers.dense(z, 4*4*8, activation=tf.nn.relu)
            h = tf.reshape(h, [-1,4,4,8])
            h = tf.layers.batch_normalization(h, training=True)
            h = tf.layers.conv2d_transpose(h, 1, 5, strides=2, padding='same', activation=tf.nn.tanh)
            return h
    def disc(x, reuse=None):
        with tf.variable_scope("disc", reuse=reuse):
            h = lrelu(tf.layers.conv2d(x, 8, 5, strides=2, padding='same'))
            h = tcl.flatten(h)
            return tf.squeeze(tf.layers.dense(h, 1), 1)
    x = tf.placeholder(tf.float32, [None,8,8,1]); z = tf.random_normal([tf.shape(x)[0], 16])
    fake = gen(z); fake.set_shape([None,8,8,1])
    dr, df = disc(x), disc(fake, True)
    eps = tf.random_uniform([tf.shape(x)[0],1,1,1])
    inter = eps*x + (1-eps)*fake
    grads = tf.gradients(disc(inter, True), [inter])[0]
    slopes = tf.sqrt(1e-8+tf.reduce_sum(tf.square(grads), reduction_indices=[1,2,3]))
    gp = tf.reduce_mean((slopes-1.)**2)
    dl = tf.reduce_mean(df)-tf.reduce_mean(dr)+10*gp; gl=-tf.reduce_mean(df)
    tv = tf.trainable_variables()
    dv=[v for v in tv if v.name.startswith("disc")]; gv=[v for v in tv if "gen/" in v.name]
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        gstep = tf.train.AdamOptimizer(1e-3, beta1=0.5, beta2=0.9).minimize(gl, var_list=gv)
    dstep = tf.train.AdamOptimizer(1e-3, beta1=0.5, beta2=0.9).minimize(dl, var_list=dv)
    tf.summary.scalar("dl", dl); merged = tf.summary.merge_all()
    saver = tf.train.Saver(max_to_keep=2)
    config = tf.ConfigProto(); config.gpu_options.allow_growth = True
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(FLAGS.iters):
            b = np.random.randn(4,8,8,1)
            _, d = sess.run([dstep, dl], {x:b}); _, g = sess.run([gstep, gl], {x:b})
        print(np.isfinite([d, g]).all(), FLAGS.iters)
"""
"""A Wasserstein GAN with a penalty on gradients: a derivative in the loss, batch normalization."""

RECURRENT = """
    import numpy as np, tensorflow as tf
    from tensorflow.contrib import rnn
    batch, T, V, H = 4, 5, 11, 16
    inp = tf.placeholder(tf.int32,[batch,T]); tgt=tf.placeholder(tf.int32,[batch,T])
    keep=tf.placeholder_with_default(1.0,[])
    cell = rnn.MultiRNNCell([rnn.DropoutWrapper(rnn.BasicLSTMCell(H), output_keep_prob=keep) for _ in range(2)])
    init = cell.zero_state(batch, tf.float32)
    emb = tf.get_variable("emb",[V,H]); x = tf.nn.embedding_lookup(emb, inp)
    out, last = tf.nn.dynamic_rnn(cell, x, initial_state=init)
    w = tf.get_variable("softmax_w",[H,V]); b=tf.get_variable("softmax_b",[V],initializer=tf.constant_initializer(0.0))
    logits = tf.matmul(tf.reshape(out,[-1,H]),w)+b
    loss = tf.contrib.seq2seq.sequence_loss(tf.reshape(logits,[batch,T,V]),tgt,tf.ones([batch,T]))
    lr = tf.Variable(0.0, trainable=False); tvars=tf.trainable_variables()
    grads,_ = tf.clip_by_global_norm(tf.gradients(loss,tvars),5.0)
    train = tf.train.AdamOptimizer(lr).apply_gradients(zip(grads,tvars))
    with tf.Session() as s:
        tf.global_variables_initializer().run()
        s.run(tf.assign(lr, 0.01)); st = s.run(init)
        for i in range(20):
            feed={inp:np.random.randint(0,V,(batch,T)),tgt:np.ones((batch,T))}
            for (c,h),v in zip(init, st): feed[c]=v.c; feed[h]=v.h
            l, st, _ = s.run([loss,last,train],feed)
        print(l < 0.5)
"""
"""A model of characters: stacked LSTM cells whose state is fed, clipped gradients, a learning rate that is assigned."""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "xla"])
@pytest.mark.parametrize(
    ("program", "arguments", "printed"), [(WASSERSTEIN, ["--iters", "2"], "True 2\n"), (RECURRENT, [], "True\n")]
)
def test_a_program_runs_as_it_is(program: str, arguments: list[str], printed: str, engine: str, tmp_path: Path) -> None:
    assert run_program(tmp_path, program, *arguments, options=("--engine", engine)) == printed
