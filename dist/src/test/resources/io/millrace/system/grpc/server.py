"""gRPC server with every kind of call, on messages of plain bytes. Arguments: port, optionally key and certificate."""
import sys
import time
from concurrent import futures

import grpc

cancelled = []


def unary(request, context):
    metadata = dict(context.invocation_metadata())
    context.set_trailing_metadata((("x-trailer", metadata.get("x-sent", "none")),))
    return b"unary:" + request


def server_stream(request, context):
    for i in range(int(request)):
        yield b"item %d" % i


def client_stream(requests, context):
    return b"sum %d" % sum(len(r) for r in requests)


def bidi(requests, context):
    for r in requests:
        yield b"echo:" + r


def fail(request, context):
    context.abort(grpc.StatusCode.NOT_FOUND, "no such thing")


def wait(request, context):
    context.add_callback(lambda: cancelled.append(request))
    yield b"begun"
    while context.is_active():
        time.sleep(0.02)


def deadline(request, context):
    return b"%d" % int(context.time_remaining() * 1000)


def was_cancelled(request, context):
    for _ in range(500):
        if request in cancelled:
            return b"yes"
        time.sleep(0.02)
    return b"no"


class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        return {
            "/t.T/Unary": grpc.unary_unary_rpc_method_handler(unary),
            "/t.T/Server": grpc.unary_stream_rpc_method_handler(server_stream),
            "/t.T/Client": grpc.stream_unary_rpc_method_handler(client_stream),
            "/t.T/Bidi": grpc.stream_stream_rpc_method_handler(bidi),
            "/t.T/Fail": grpc.unary_unary_rpc_method_handler(fail),
            "/t.T/Wait": grpc.unary_stream_rpc_method_handler(wait),
            "/t.T/Deadline": grpc.unary_unary_rpc_method_handler(deadline),
            "/t.T/WasCancelled": grpc.unary_unary_rpc_method_handler(was_cancelled),
        }.get(details.method)


server = grpc.server(futures.ThreadPoolExecutor(max_workers=16))
server.add_generic_rpc_handlers((Handler(),))
port = server.add_insecure_port("127.0.0.1:" + sys.argv[1])
server.start()
print("port", port, flush=True)
server.wait_for_termination()
