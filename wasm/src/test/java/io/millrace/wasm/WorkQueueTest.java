package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.wasm.abi.ModuleLog;
import io.millrace.wasm.callout.CalloutClient;
import io.millrace.wasm.callout.CalloutSettings;
import io.millrace.wasm.callout.OpenCalls;
import java.net.URI;
import java.net.http.HttpRequest;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the results that wait for a worker. */
class WorkQueueTest {
    private static final URI UPSTREAM = URI.create("http://127.0.0.1/");

    private final WorkQueue.Inbox inbox = new WorkQueue(1).inbox();

    /** Adds the result of a call without time, which is refused. Returns the number of the call. */
    private int refuse(OpenCalls calls) {
        HttpRequest request = HttpRequest.newBuilder(UPSTREAM).build();
        return calls.begin(request, WasmInstance.ROOT_CONTEXT, 0, 0);
    }

    /** A new instance must not wait behind the results of the calls of a discarded one. */
    @Test
    void aClearedInboxTakesLaterResultsOnly() {
        Canned.Context context = new Canned.Context();
        CalloutSettings settings = new CalloutSettings(Map.of(), 1_000_000_000L, 1);
        try (CalloutClient client = new CalloutClient(settings, context, new ModuleLog(context.log()))) {
            OpenCalls calls = new OpenCalls(
                    client,
                    WasmInstance.ROOT_CONTEXT,
                    (call, response) -> inbox.add(new WorkQueue.Result(call, response)));
            for (int i = 0; i < 3; i++) {
                assertEquals(i + 1, refuse(calls));
            }
            calls.cancelAll();
            inbox.clear();
            assertNull(inbox.poll());
            int later = refuse(calls);
            WorkQueue.Result result = assertInstanceOf(WorkQueue.Result.class, inbox.poll());
            assertEquals(later, result.call());
            inbox.close();
            assertEquals(later + 1, refuse(calls));
            assertNull(inbox.poll(), "after the end");
        }
    }
}
