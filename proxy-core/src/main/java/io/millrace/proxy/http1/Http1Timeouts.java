package io.millrace.proxy.http1;

import io.millrace.proxy.http1.ConnectionDeadline.Waiting;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientTunnel;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.ContentRate;
import org.jspecify.annotations.Nullable;

/**
 * Enforces the timeouts and minimum rates of one HTTP/1.1 connection in a channel. Closes the connection if its client
 * sends a request, or receives a response, later or slower than the settings permit.
 *
 * <p>Checked at every periodic tick of the event loop. Confined to that loop.
 */
final class Http1Timeouts implements SlowClients.Client {
    private final Http1Connection connection;
    private final ConnectionSet connections;
    private final ConnectionDeadline deadline;
    private final ContentRate contentRate = new ContentRate();

    Http1Timeouts(Http1Connection connection, ConnectionSet connections, ConnectionDeadline deadline) {
        this.connection = connection;
        this.connections = connections;
        this.deadline = deadline;
    }

    /** The rate at which the client sends the content of the current request. */
    ContentRate contentRate() {
        return contentRate;
    }

    /** Checks the deadlines of a connection that speaks HTTP. */
    void onTick(long nowNanos) {
        Http1Stream current = connection.stream();
        ConnectionOutput output = connection.output();
        boolean awaitsContent = deadline.isFor(Waiting.CONTENT);
        if (output.sample(nowNanos) && !awaitsContent && closeIfTooSlow(nowNanos)) {
            return;
        }
        if (deadline.isFor(Waiting.RESPONSE) || (!awaitsContent && output.isSending())) {
            deadline.restart();
        } else if (awaitsContent && current != null && isUploadTooSlow(current, nowNanos)) {
            current.failRequest(BadRequest.CONTENT_RATE);
        } else if (awaitsContent && current != null && !current.wantsContent() && !current.isResponseEnded()) {
            deadline.restart();
        } else if (deadline.checkExpired(nowNanos, connection.settings())) {
            onTimeout(current);
        }
    }

    /**
     * Closes the connection if its client receives nothing for too long, or receives too slowly. Returns true if the
     * connection was closed.
     */
    private boolean closeIfTooSlow(long nowNanos) {
        SlowReason reason = null;
        SlowClients slow = connections.slowClients();
        ConnectionOutput output = connection.output();
        if (output.isStuck(nowNanos, connection.settings().sendTimeoutNanos())) {
            reason = SlowReason.TIMEOUT;
        } else if (slow != null && output.isBelow(slow.rateMin(), nowNanos)) {
            reason = SlowReason.RATE;
        }
        if (reason == null) {
            return false;
        }
        if (slow == null) {
            closeSlow(reason);
        } else {
            slow.close(this, reason);
        }
        return true;
    }

    private boolean isUploadTooSlow(Http1Stream current, long nowNanos) {
        Http1Settings limits = connection.settings();
        return contentRate.checkTooSlow(
                nowNanos, current.isContentAwaited(), limits.contentRateMin(), limits.contentRateWindowNanos());
    }

    private void onTimeout(@Nullable Http1Stream current) {
        if (deadline.isFor(Waiting.CONTENT) && current != null) {
            current.failRequest(BadRequest.CONTENT_TIMEOUT);
        } else if (deadline.isFor(Waiting.HEADER) && current == null) {
            connection.onHeaderTimeout();
        } else {
            connection.closeNow();
        }
    }

    @Override
    public long silentNanos(long nowNanos) {
        return connection.output().silentNanos(nowNanos);
    }

    @Override
    public long unsentNanos(long nowNanos) {
        return connection.output().unsentNanos(nowNanos);
    }

    /**
     * The rate at which the client receives. A tunnel's bytes are not measured, so its connection is never the
     * slowest.
     */
    @Override
    public long bytesPerSecond(long nowNanos) {
        return connection.tunnel() == null ? connection.output().bytesPerSecond(nowNanos) : Long.MAX_VALUE;
    }

    @Override
    public SlowClients.OriginDemand originDemand() {
        Http1Stream stream = connection.stream();
        return stream == null ? SlowClients.OriginDemand.NONE : stream.originDemand();
    }

    /** Closes the connection by a reset. Otherwise the kernel would keep the unsent bytes for minutes. */
    @Override
    public void closeSlow(SlowReason reason) {
        ClientTunnel tunnel = connection.tunnel();
        Http1Stream stream = connection.stream();
        if (tunnel != null) {
            tunnel.onClientTooSlow();
        } else if (stream != null) {
            stream.onTooSlow(reason);
        }
        connection.reset();
        // The channel reports its close later, but the memory of the response must be released now.
        connection.onGone();
    }
}
