package io.millrace.wasm;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.wasm.abi.Pairs;
import io.millrace.wasm.abi.Status;
import io.millrace.wasm.callout.CalloutRequest;
import io.millrace.wasm.callout.OpenCalls;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The host function for HTTP calls. Stateless. */
final class CalloutFunctions {
    private CalloutFunctions() {}

    /**
     * Parameters: upstream, its length, fields, their length, body, its length, trailers, their length, timeout in
     * milliseconds, pointer to the number of the call.
     */
    static int call(WasmInstance guest, long[] args) {
        OpenCalls calls = guest.calls();
        String name = guest.memory().text(args[0], args[1], UTF_8);
        if (calls == null) {
            return refused(guest, name);
        }
        URI upstream = calls.settings().upstreams().get(name);
        if (upstream == null) {
            return unknown(guest, name);
        }
        HttpRequest request = request(guest, upstream, args);
        if (request == null) {
            return Status.BAD_ARGUMENT;
        }
        // Checks the address for the number before the request is sent: with an invalid address, nothing is sent.
        guest.memory().writeInt(args[9], 0);
        HttpContext http = guest.http();
        long now = System.nanoTime();
        long end = now + timeoutNanos(calls, args[8]);
        if (http != null) {
            long latestEnd = http.beganNanos() + calls.settings().timeoutNanos();
            end = end - latestEnd > 0 ? latestEnd : end;
        }
        int number = calls.begin(request, http == null ? WasmInstance.ROOT_CONTEXT : http.number(), now, end);
        if (number == 0) {
            return Status.INTERNAL_FAILURE;
        }
        guest.memory().writeInt(args[9], number);
        return Status.OK;
    }

    private static int refused(WasmInstance guest, String name) {
        if (guest.shared().callouts() == null) {
            return unknown(guest, name);
        }
        guest.shared()
                .log()
                .once(
                        "callout place",
                        "a module can send HTTP calls in callbacks for requests, timers and results of HTTP calls only");
        return Status.INTERNAL_FAILURE;
    }

    private static int unknown(WasmInstance guest, String name) {
        guest.shared()
                .log()
                .onceFor(
                        "callout name",
                        "the module calls an upstream that the key config.callouts does not name",
                        name);
        return Status.BAD_ARGUMENT;
    }

    /** Returns the request; null if it is not valid. */
    private static @Nullable HttpRequest request(WasmInstance guest, URI upstream, long[] args) {
        List<String> fields = Pairs.decode(guest.memory().bytes(args[2], args[3]));
        int bytesMax = guest.shared().settings().callouts().bodyBytesMax();
        if (fields == null) {
            return invalid(guest, "its list of fields is not encoded as the Proxy-Wasm ABI requires");
        }
        if ((args[5] & 0xffff_ffffL) > bytesMax) {
            return invalid(guest, "its content has more bytes than the limit of " + bytesMax + " (key callout_body)");
        }
        try {
            return CalloutRequest.of(upstream, fields, guest.memory().bytes(args[4], args[5]));
        } catch (IllegalArgumentException e) {
            return invalid(guest, String.valueOf(e.getMessage()));
        }
    }

    /** @param reason text for the log, without any part of the request, which may contain secrets of clients */
    private static @Nullable HttpRequest invalid(WasmInstance guest, String reason) {
        guest.shared().log().once("callout request " + reason, "an HTTP call is not valid: " + reason);
        return null;
    }

    /**
     * Returns the time limit of a call: the limit that the module requests, but at most the configured limit.
     *
     * @param millis the requested limit; 0 for none
     */
    private static long timeoutNanos(OpenCalls calls, long millis) {
        long nanos = TimeUnit.MILLISECONDS.toNanos(millis & 0xffff_ffffL);
        long nanosMax = calls.settings().timeoutNanos();
        return nanos == 0 ? nanosMax : Math.min(nanos, nanosMax);
    }
}
