"""The command stream: calls from C become commands in a ring, which Python executes together.

A program with many small draws makes a few calls for each of them: uniforms, a texture, an enable,
a draw. The transition from C to Python for every call takes longer than the work in Python. So the
pointers of functions that return nothing (`calls.CALLS`) write a command into a ring in memory and
return (`stubs`). All other calls of the application first *flush* the ring (`ring.flush`): its
commands are executed in order, and the program cannot observe the deferral.

Functions of `calls.CALLS` may be deferred; those of glBegin's vertices, of matrices and of lists
(`Role.OLD`) exist in the compatibility profile only. No buffer of the share group may be mapped,
and the context must have no debug callback and no observer (`Stream.may_record`). Pointer arguments
are read at once, and so are the client arrays of fixed function (`array_stubs`). A context whose
draws read other memory of the application defers only `Role.OLD`. A batch ends at any other call
through a C pointer, any method of the context called from Python, a change of the current context,
and when the ring is full. The ring belongs to one thread and the context that is current there,
from `make_current` on. Only that thread writes commands; it, or a thread that calls a method of
that context, flushes.

Execution of a batch (`batch`): most calls only set state, so NumPy computes, for all draws at once,
the state in which each is made (a hash of the last call for every *slot*). A draw in a known state
is identified to the driver by a token, and such draws are passed to the driver together, with their
uniforms as rows of bytes. A draw in a new state is made by the ordinary entry points, after the
calls that set that state. The known states are dropped when a call outside the ring may have
changed state (`calls.keeps_state`). Until then the `analysis` of a batch serves the next batch with
equal calls, whose uniforms and data may be others.

In the compatibility profile NumPy makes arrays of long runs of vertices, and draws the lists of a
long run of matrices and lists together (`optional/compatibility`, `recorded_vertices` and
`recorded_lists`). Where primitives of fixed function alternate with matrices or state, they become
draws from a buffer (`recorded_draws`), whose kinds are known as above; what their shaders read is
in the state of lights, and their uniforms are computed from matrices and materials each time. Draws
from client arrays are such primitives, too (`recorded_arrays`), and the calls of short lists take
the place of those that call the lists. Draws of fixed function from the application's buffers are
followed likewise; a colour set before one of them belongs to its kind, if it has no array of
colours. What stands between such calls is executed as above. Other lists may set anything, so they
end what is known.

`GALLETTE_STREAM=off` disables the stream: every call is executed at once.
"""
