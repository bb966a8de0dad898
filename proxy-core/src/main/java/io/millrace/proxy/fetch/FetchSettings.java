package io.millrace.proxy.fetch;

import java.util.concurrent.TimeUnit;

/**
 * Deadlines and limits of a request to an origin. Each request has its own settings, so a changed configuration applies
 * to the next request.
 *
 * <p>Immutable.
 *
 * @param connectTimeoutNanos limit of the time from the start of a connection attempt until requests can be sent, over
 *     all addresses and including the TLS handshake
 * @param firstByteTimeoutNanos limit of the time from the request's last byte until the response head is complete; the
 *     time begins at the end of the request head if the content waits for 100 (Continue)
 * @param responseIdleTimeoutNanos longest pause within a response; does not run while the caller has paused reading
 * @param requestIdleTimeoutNanos longest time in which an origin accepts none of the request's content
 * @param keepAliveIdleNanos idle timeout of an unused connection
 * @param queueTimeoutNanos longest time that a call waits for one of the origin's connections
 * @param responseHeadMax limit in bytes of a response head and of a trailer section
 * @param connectionsMax limit of connections per origin on this event loop, including those being made
 * @param connectionsTotalMax limit of connections per origin on all event loops together; 0 for no limit
 * @param tunnelsMax limit of tunnels per origin on this event loop, including tunnels being opened; tunnels do not
 *     count towards connectionsMax
 * @param idleConnectionsMax limit of idle connections per origin on this event loop
 * @param queueMax limit of calls that wait for a connection, per origin on this event loop
 * @param http2StreamsMax limit of concurrent calls on one HTTP/2 connection
 * @param http2WindowBytes flow-control window of one HTTP/2 response: content sent and not yet consumed
 * @param keepAlive false to ask the origin to close the connection after the response
 */
public record FetchSettings(
        long connectTimeoutNanos,
        long firstByteTimeoutNanos,
        long responseIdleTimeoutNanos,
        long requestIdleTimeoutNanos,
        long keepAliveIdleNanos,
        long queueTimeoutNanos,
        int responseHeadMax,
        int connectionsMax,
        int connectionsTotalMax,
        int tunnelsMax,
        int idleConnectionsMax,
        int queueMax,
        int http2StreamsMax,
        int http2WindowBytes,
        boolean keepAlive) {
    private static final FetchSettings DEFAULTS = builder().build();

    /** Checks that deadlines are positive and limits are valid. */
    public FetchSettings {
        positive("connectTimeout", connectTimeoutNanos);
        positive("firstByteTimeout", firstByteTimeoutNanos);
        positive("responseIdleTimeout", responseIdleTimeoutNanos);
        positive("requestIdleTimeout", requestIdleTimeoutNanos);
        positive("keepAliveIdle", keepAliveIdleNanos);
        positive("queueTimeout", queueTimeoutNanos);
        positive("responseHeadMax", responseHeadMax);
        positive("connectionsMax", connectionsMax);
        positive("tunnelsMax", tunnelsMax);
        positive("http2StreamsMax", http2StreamsMax);
        positive("http2WindowBytes", http2WindowBytes);
        if (idleConnectionsMax < 0 || queueMax < 0 || connectionsTotalMax < 0) {
            throw new IllegalArgumentException("idleConnectionsMax, queueMax and connectionsTotalMax: actual="
                    + idleConnectionsMax + ", " + queueMax + " and " + connectionsTotalMax + ", limit=0 or more");
        }
    }

    private static void positive(String name, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException(name + ": actual=" + value + ", limit=more than 0");
        }
    }

    /** The defaults, which suit an origin in the same data centre or across an ocean. */
    public static FetchSettings defaults() {
        return DEFAULTS;
    }

    /** Returns a copy with other limits of connections (one loop, all loops), tunnels and waiting calls. */
    public FetchSettings withLimits(int connections, int total, int tunnels, int queue) {
        return new FetchSettings(
                connectTimeoutNanos,
                firstByteTimeoutNanos,
                responseIdleTimeoutNanos,
                requestIdleTimeoutNanos,
                keepAliveIdleNanos,
                queueTimeoutNanos,
                responseHeadMax,
                connections,
                total,
                tunnels,
                idleConnectionsMax,
                queue,
                http2StreamsMax,
                http2WindowBytes,
                keepAlive);
    }

    /** Returns a builder that starts from the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Builds settings. Confined to one thread. */
    public static final class Builder {

        private long connectTimeoutNanos = TimeUnit.SECONDS.toNanos(10);
        private long firstByteTimeoutNanos = TimeUnit.SECONDS.toNanos(30);
        private long responseIdleTimeoutNanos = TimeUnit.SECONDS.toNanos(30);
        private long requestIdleTimeoutNanos = TimeUnit.SECONDS.toNanos(30);
        // Origins usually close a connection after 60 s or 75 s without a request. With a shorter timeout this proxy
        // closes the connection first, so it sends no request on a connection that the origin is closing.
        private long keepAliveIdleNanos = TimeUnit.SECONDS.toNanos(50);
        private long queueTimeoutNanos = TimeUnit.SECONDS.toNanos(10);
        private int responseHeadMax = 64 << 10;
        private int connectionsMax = 256;
        private int connectionsTotalMax;
        private int tunnelsMax = 4096;
        private int idleConnectionsMax = 64;
        private int queueMax = 1024;
        private int http2StreamsMax = 100;
        private int http2WindowBytes = 256 << 10;
        private boolean keepAlive = true;

        Builder() {}

        /** See {@link FetchSettings#connectTimeoutNanos()}. */
        public Builder connectTimeoutNanos(long nanos) {
            connectTimeoutNanos = nanos;
            return this;
        }

        /** See {@link FetchSettings#firstByteTimeoutNanos()}. */
        public Builder firstByteTimeoutNanos(long nanos) {
            firstByteTimeoutNanos = nanos;
            return this;
        }

        /** See {@link FetchSettings#responseIdleTimeoutNanos()}. */
        public Builder responseIdleTimeoutNanos(long nanos) {
            responseIdleTimeoutNanos = nanos;
            return this;
        }

        /** See {@link FetchSettings#requestIdleTimeoutNanos()}. */
        public Builder requestIdleTimeoutNanos(long nanos) {
            requestIdleTimeoutNanos = nanos;
            return this;
        }

        /** See {@link FetchSettings#keepAliveIdleNanos()}. */
        public Builder keepAliveIdleNanos(long nanos) {
            keepAliveIdleNanos = nanos;
            return this;
        }

        /** See {@link FetchSettings#queueTimeoutNanos()}. */
        public Builder queueTimeoutNanos(long nanos) {
            queueTimeoutNanos = nanos;
            return this;
        }

        /** See {@link FetchSettings#responseHeadMax()}. */
        public Builder responseHeadMax(int bytes) {
            responseHeadMax = bytes;
            return this;
        }

        /** See {@link FetchSettings#connectionsMax()}. */
        public Builder connectionsMax(int connections) {
            connectionsMax = connections;
            return this;
        }

        /** See {@link FetchSettings#connectionsTotalMax()}. */
        public Builder connectionsTotalMax(int connections) {
            connectionsTotalMax = connections;
            return this;
        }

        /** See {@link FetchSettings#tunnelsMax()}. */
        public Builder tunnelsMax(int tunnels) {
            tunnelsMax = tunnels;
            return this;
        }

        /** See {@link FetchSettings#idleConnectionsMax()}. */
        public Builder idleConnectionsMax(int connections) {
            idleConnectionsMax = connections;
            return this;
        }

        /** See {@link FetchSettings#queueMax()}. */
        public Builder queueMax(int calls) {
            queueMax = calls;
            return this;
        }

        /** See {@link FetchSettings#http2StreamsMax()}. */
        public Builder http2StreamsMax(int streams) {
            http2StreamsMax = streams;
            return this;
        }

        /** See {@link FetchSettings#http2WindowBytes()}. */
        public Builder http2WindowBytes(int bytes) {
            http2WindowBytes = bytes;
            return this;
        }

        /** See {@link FetchSettings#keepAlive()}. */
        public Builder keepAlive(boolean keep) {
            keepAlive = keep;
            return this;
        }

        /** Returns the settings. */
        public FetchSettings build() {
            return new FetchSettings(
                    connectTimeoutNanos,
                    firstByteTimeoutNanos,
                    responseIdleTimeoutNanos,
                    requestIdleTimeoutNanos,
                    keepAliveIdleNanos,
                    queueTimeoutNanos,
                    responseHeadMax,
                    connectionsMax,
                    connectionsTotalMax,
                    tunnelsMax,
                    idleConnectionsMax,
                    queueMax,
                    http2StreamsMax,
                    http2WindowBytes,
                    keepAlive);
        }
    }
}
