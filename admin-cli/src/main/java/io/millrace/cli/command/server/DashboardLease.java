package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.CommandClock;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A renewable lease of the port of a dashboard. The launcher (the process with the admin API) keeps the port open while
 * the lease is valid. A failed renewal is repeated until the lease expires, since the launcher may only be busy.
 *
 * <p>Confined to one thread, except for {@link #close}, which is thread-safe.
 */
final class DashboardLease {
    /** Number of renewals within the duration of a lease, so that one failed renewal does not end the dashboard. */
    private static final int RENEWALS_PER_LEASE = 3;

    /** Wait after a failed renewal. */
    private static final Duration RETRY = Duration.ofSeconds(2);

    private static final int LEASE_ENDED = 409;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;

    private final AdminClient client;
    private final CommandClock clock;
    private final Consumer<String> messages;
    private final String id;
    private final Duration length;
    private final AtomicBoolean isOpen = new AtomicBoolean(true);
    private long endNanos;
    /** The reason of the last failed renewal; null after a successful one. */
    private @Nullable String failure;

    /**
     * Creates a lease that the launcher has just granted.
     *
     * @param messages receives lines about failed renewals
     * @param id identifier of the lease from the launcher
     * @param length duration of the lease; each renewal starts this duration again
     */
    DashboardLease(AdminClient client, CommandClock clock, Consumer<String> messages, String id, Duration length) {
        this.client = client;
        this.clock = clock;
        this.messages = messages;
        this.id = id;
        this.length = length;
        endNanos = clock.nanoTime() + length.toNanos();
    }

    /**
     * Renews the lease again and again, until {@link CommandClock#sleep} returns false after an interrupt. Blocks.
     *
     * @param afterEach called after each wait, before the renewal
     * @throws CommandFailure if the lease has ended, or the launcher refuses the renewal for good
     */
    void hold(Runnable afterEach) throws AdminClientException, CommandFailure {
        Duration usual = length.dividedBy(RENEWALS_PER_LEASE);
        while (clock.sleep(failure == null || RETRY.compareTo(usual) > 0 ? usual : RETRY)) {
            afterEach.run();
            renew();
        }
    }

    private void renew() throws AdminClientException, CommandFailure {
        long sentNanos = clock.nanoTime();
        String reason = renewalFailure();
        if (reason == null) {
            endNanos = sentNanos + length.toNanos();
            failure = null;
            return;
        }
        long leftNanos = endNanos - clock.nanoTime();
        if (leftNanos <= 0) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "the dashboard has ended, since its lease was not renewed for " + length.toSeconds() + " s; "
                            + reason,
                    "check the launcher: millctl status",
                    "open it again:      millctl dashboard");
        }
        if (failure == null) {
            long seconds = Math.max(1, Duration.ofNanos(leftNanos).toSeconds());
            messages.accept("millctl: " + reason + "; retrying for " + seconds + " s");
        }
        failure = reason;
    }

    /** Sends a renewal. Returns null after success, or the reason of a failure that may be temporary. */
    private @Nullable String renewalFailure() throws AdminClientException, CommandFailure {
        try {
            AdminResponse response = client.post("/v1/dashboard/renew", JsonText.object("lease", id));
            if (response.isSuccess()) {
                return null;
            }
            if (response.status() == LEASE_ENDED) {
                throw new CommandFailure(
                        ExitCode.FAILED,
                        "the dashboard has ended, since the launcher was restarted or did not receive a renewal in"
                                + " time",
                        "open it again: millctl dashboard");
            }
            JsonObject error = response.json().object("error");
            String reason = error.text("message", "the request was refused") + " ("
                    + error.text("code", "status " + response.status()) + ")";
            if (response.status() != TOO_MANY_REQUESTS && response.status() < SERVER_ERROR) {
                throw new CommandFailure(ExitCode.FAILED, reason);
            }
            return reason;
        } catch (AdminClientException e) {
            if (e.kind() == AdminClientException.Kind.UNTRUSTED) {
                throw e;
            }
            return e.message();
        }
    }

    /** Asks the launcher to end the lease and to close the port. Only the first call has an effect. */
    void close() {
        if (isOpen.compareAndSet(true, false)) {
            try {
                client.post("/v1/dashboard/close", JsonText.object(Map.of("lease", id)));
            } catch (AdminClientException e) {
                // Without a renewal the lease expires, and the launcher closes the port then.
            }
        }
    }
}
