"""Makes one call of each kind and prints what came of it, a line each. Arguments: port of the proxy, name of the site."""
import queue
import sys
import threading

import grpc

channel = grpc.insecure_channel(
    "127.0.0.1:" + sys.argv[1], options=[("grpc.default_authority", sys.argv[2])]
)


def show(name, call):
    try:
        print(name, call(), flush=True)
    except grpc.RpcError as e:
        print(name, e.code().name, e.details(), flush=True)


T = 20


def unary():
    answer, call = channel.unary_unary("/t.T/Unary").with_call(b"a", timeout=T, metadata=(("x-sent", "b"),))
    return answer, dict(call.trailing_metadata()).get("x-trailer")


def large():
    return len(channel.unary_unary("/t.T/Unary")(b"x" * 3_000_000, timeout=T))


def server_stream():
    items = list(channel.unary_stream("/t.T/Server")(b"1000", timeout=T))
    return len(items), items[-1]


def client_stream():
    return channel.stream_unary("/t.T/Client")((b"x" * 1000 for _ in range(500)), timeout=T)


def bidi():
    """Each message is sent when the answer to the one before has come."""
    sent = queue.Queue()
    answers = channel.stream_stream("/t.T/Bidi")(iter(sent.get, None), timeout=T)
    got = []
    for i in range(5):
        sent.put(b"%d" % i)
        got.append(next(answers))
    sent.put(None)
    return got, list(answers)


def cancelled():
    call = channel.unary_stream("/t.T/Wait")(b"one", timeout=T)
    first = next(call)
    call.cancel()
    return first, channel.unary_unary("/t.T/WasCancelled")(b"one", timeout=T)


def late():
    """The reset by the server and the end of the client's own clock race for the details."""
    try:
        return list(channel.unary_stream("/t.T/Wait")(b"two", timeout=0.5))
    except grpc.RpcError as e:
        return e.code().name


def deadline():
    left = int(channel.unary_unary("/t.T/Deadline")(b"", timeout=T))
    return 15_000 < left <= 21_000


def many():
    calls = [channel.unary_unary("/t.T/Unary").future(b"%d" % i, timeout=T) for i in range(200)]
    return sum(c.result() == b"unary:%d" % i for i, c in enumerate(calls))


show("unary", unary)
show("large", large)
show("server", server_stream)
show("client", client_stream)
show("bidi", bidi)
show("trailers-only", lambda: channel.unary_unary("/t.T/Fail")(b"", timeout=T))
show("unknown", lambda: channel.unary_unary("/t.T/None")(b"", timeout=T))
show("cancelled", cancelled)
show("late", late)
show("deadline", deadline)
show("many", many)
