package io.millrace.launcher.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.proxy.admin.fleet.FleetBatch;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.purge.fleet.FleetPosition;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Tests how refusals of the worker are told apart. */
class WorkerPurgesOverSocketTest {
    private static CompletableFuture<?> apply(int status, String code) {
        // A reply from the socket has no error code outside of its body.
        AdminReply sent = AdminReply.error(status, code, "a text");
        AdminReply reply = new AdminReply(status, sent.contentType(), sent.body(), null, Map.of());
        WorkerPurges worker = new WorkerPurgesOverSocket(
                (socket, method, path, body, timeout) -> CompletableFuture.completedFuture(reply),
                () -> Path.of("socket"));
        return worker.apply(new FleetBatch(null, new FleetPosition("c1", 1, "a:1"), false, true, List.of()));
    }

    @Test
    void aBusyWorkerIsNoWorkerAtAnotherPosition() throws Exception {
        assertNull(apply(409, "fleet-position").get());
        for (Map.Entry<String, Integer> refusal :
                Map.of("fleet-busy", 409, "purge-not-durable", 500).entrySet()) {
            Throwable failure = assertThrows(ExecutionException.class, apply(refusal.getValue(), refusal.getKey())::get)
                    .getCause();
            assertInstanceOf(IOException.class, failure);
            assertEquals(
                    refusal.getKey().equals("fleet-busy"),
                    failure instanceof WorkerPurges.BusyException,
                    refusal::toString);
        }
    }
}
