package io.millrace.launcher.fleet;

import io.millrace.proxy.admin.fleet.FleetBatch;
import io.millrace.proxy.admin.fleet.FleetMembersResource;
import io.millrace.proxy.admin.fleet.FleetPositionResource;
import io.millrace.proxy.admin.fleet.FleetService;
import io.millrace.proxy.admin.fleet.FleetService.Outcome;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sends batches of purges to the admin socket of the serving worker. Thread-safe. */
public final class WorkerPurgesOverSocket implements WorkerPurges {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int CONFLICT = 409;

    private final Client client;
    private final Supplier<@Nullable Path> socket;

    /** Sends one request to an admin server. */
    @FunctionalInterface
    public interface Client {
        /** Sends an idempotent request, which the client may send twice. */
        CompletionStage<AdminReply> send(Path socket, String method, String path, byte[] body, Duration timeout);
    }

    /** @param socket returns the admin socket of the worker; null while no worker serves */
    public WorkerPurgesOverSocket(Client client, Supplier<@Nullable Path> socket) {
        this.client = client;
        this.socket = socket;
    }

    @Override
    public @Nullable Outcome position() throws IOException, InterruptedException {
        return outcome(send("GET", FleetPositionResource.PATH));
    }

    @Override
    public CompletableFuture<@Nullable Outcome> apply(FleetBatch batch) {
        CompletableFuture<@Nullable Outcome> applied = new CompletableFuture<>();
        Path to = socket.get();
        if (to == null) {
            applied.completeExceptionally(noWorker());
            return applied;
        }
        client.send(to, "POST", FleetPositionResource.PATH, batch.bytes(), TIMEOUT)
                .whenComplete((reply, failure) -> {
                    if (failure != null) {
                        applied.completeExceptionally(noAnswer(failure));
                        return;
                    }
                    try {
                        applied.complete(reply.status() == CONFLICT ? conflict(reply) : outcome(reply));
                    } catch (IOException e) {
                        applied.completeExceptionally(e);
                    }
                });
        return applied;
    }

    @Override
    public String target() {
        Path to = socket.get();
        return to == null ? "" : to.toString();
    }

    @Override
    public void reloadMembers() throws IOException, InterruptedException {
        AdminReply reply = send("POST", FleetMembersResource.PATH);
        if (reply.status() != 200) {
            throw new IOException("the worker answered with status " + reply.status());
        }
    }

    private AdminReply send(String method, String path) throws IOException, InterruptedException {
        Path to = socket.get();
        if (to == null) {
            throw noWorker();
        }
        try {
            return client.send(to, method, path, new byte[0], TIMEOUT)
                    .toCompletableFuture()
                    .get();
        } catch (ExecutionException e) {
            throw noAnswer(e);
        }
    }

    private static IOException noWorker() {
        return new IOException("no worker serves");
    }

    private static IOException noAnswer(Throwable failure) {
        boolean isWrapped = failure instanceof ExecutionException || failure instanceof CompletionException;
        Throwable cause = isWrapped ? failure.getCause() : failure;
        return new IOException("the worker did not answer: " + (cause == null ? failure : cause).getMessage(), failure);
    }

    /** Interprets a conflict reply. Throws if the worker is busy; else returns null, because its position differs. */
    private static @Nullable Outcome conflict(AdminReply reply) throws BusyException {
        if (new String(reply.body(), StandardCharsets.UTF_8).contains('"' + FleetService.BUSY + '"')) {
            throw new BusyException();
        }
        return null;
    }

    private static @Nullable Outcome outcome(AdminReply reply) throws IOException {
        if (reply.status() != 200) {
            throw new IOException("the worker answered with status " + reply.status() + ": "
                    + new String(reply.body(), StandardCharsets.UTF_8));
        }
        try {
            return FleetPositionResource.read(reply.body());
        } catch (AdminException e) {
            throw new IOException("the worker's answer cannot be read: " + e.message(), e);
        }
    }
}
