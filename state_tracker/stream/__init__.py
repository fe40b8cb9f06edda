"""The command stream: calls from C become commands in a ring, which Python executes together.

A program of many small draws makes a few calls for each of them: uniforms, a texture, a switch, a
draw. To come from C to Python for every call takes longer than what Python then has to do. So the
pointers of functions that return nothing (`calls.CALLS`) write a command into a ring of memory and
return (`stubs`). Whatever else the application calls *flushes* the ring first (`ring.flush`): its
commands are executed in order, and the program cannot tell that they were not executed at once.

What may be deferred: functions of `calls.CALLS`, in a context of the core profile that is alone in
its share group, with no buffer mapped, no debug callback and no observer (`Stream.may_record`).
Pointers they are given are read at once. What ends a batch: any other call through a C pointer, any
method of the context that Python calls, another current context, a full ring. Who owns what: the
ring belongs to one thread and the context that is current there, from `make_current` on. Which
thread may do what: only that thread writes commands; it, or a thread that calls a method of that
very context, flushes.

How a batch is executed (`batch`): most calls only set state, so NumPy works out, for all draws at
once, which state each is made in (a hash of the last call for every *slot*). A draw in a state that
was met before is known to the driver by a token, and such draws go to the driver together, with
their uniforms as rows of bytes. A draw in a new state is made by the ordinary entry points, after
the calls that lead to that state. What is known is forgotten when a call that is not in the ring
may have changed state (`calls.keeps_state`).

`GALLETTE_STREAM=off` switches all this off: every call is executed at once.
"""
