package io.millrace.proxy.fetch;

import java.util.concurrent.TimeUnit;

/**
 * Deadlines and limits of a request to an origin. They travel with each request, so a change of settings takes effect with the next one.
 *
 * <p>Immutable.
 *
 * @param connectTimeoutNanos from the start of an attempt to connect until requests can be sent: all addresses and the TLS handshake together
 * @param firstByteTimeoutNanos from the request's last byte (or from its head, while the content waits for 100) until the response's head is complete
 * @param responseIdleTimeoutNanos longest pause within a response; not counted while the caller has paused reading
 * @param requestIdleTimeoutNanos longest time in which an origin takes none of the request's content
 * @param keepAliveIdleNanos how long an unused connection is kept
 * @param queueTimeoutNanos how long a call waits for one of the origin's connections
 * @param responseHeadMax largest response head and largest trailer section, in bytes
 * @param connectionsMax most connections per origin on this event loop, those being made included
 * @param tunnelsMax most tunnels per origin on this event loop, requests for one included; they are no connections of connectionsMax
 * @param idleConnectionsMax most unused connections kept per origin on this event loop
 * @param queueMax most calls that wait for a connection, per origin on this event loop
 * @param http2StreamsMax most calls at the same time on one HTTP/2 connection
 * @param http2WindowBytes content of one response over HTTP/2 that is on its way and not taken
 * @param keepAlive false asks the origin to close after the response
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
        int tunnelsMax,
        int idleConnectionsMax,
        int queueMax,
        int http2StreamsMax,
        int http2WindowBytes,
        boolean keepAlive) {
    private static final FetchSettings DEFAULTS = builder().build();

    /** Checks that deadlines are positive and limits make sense. */
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
        if (idleConnectionsMax < 0 || queueMax < 0) {
            throw new IllegalArgumentException("idleConnectionsMax and queueMax: actual=" + idleConnectionsMax + " and "
                    + queueMax + ", limit=0 or more");
        }
    }

    private static void positive(String what, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException(what + ": actual=" + value + ", limit=more than 0");
        }
    }

    /** The defaults, which suit an origin in the same data centre or across an ocean. */
    public static FetchSettings defaults() {
        return DEFAULTS;
    }

    /** The same with other limits of connections, of tunnels, and of calls that wait for a connection. */
    public FetchSettings withLimits(int connections, int tunnels, int queue) {
        return new FetchSettings(
                connectTimeoutNanos,
                firstByteTimeoutNanos,
                responseIdleTimeoutNanos,
                requestIdleTimeoutNanos,
                keepAliveIdleNanos,
                queueTimeoutNanos,
                responseHeadMax,
                connections,
                tunnels,
                idleConnectionsMax,
                queue,
                http2StreamsMax,
                http2WindowBytes,
                keepAlive);
    }

    /** A builder that starts from the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects settings. Confined to one thread. */
    public static final class Builder {

        private long connectTimeoutNanos = TimeUnit.SECONDS.toNanos(10);
        private long firstByteTimeoutNanos = TimeUnit.SECONDS.toNanos(30);
        private long responseIdleTimeoutNanos = TimeUnit.SECONDS.toNanos(30);
        private long requestIdleTimeoutNanos = TimeUnit.SECONDS.toNanos(30);
        // Shorter than the common 60 s and 75 s of origins, so that mostly we close first and no request meets a
        // connection that is being closed.
        private long keepAliveIdleNanos = TimeUnit.SECONDS.toNanos(50);
        private long queueTimeoutNanos = TimeUnit.SECONDS.toNanos(10);
        private int responseHeadMax = 64 << 10;
        private int connectionsMax = 256;
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

        /** The settings. */
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
                    tunnelsMax,
                    idleConnectionsMax,
                    queueMax,
                    http2StreamsMax,
                    http2WindowBytes,
                    keepAlive);
        }
    }
}
