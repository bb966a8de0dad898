package io.millrace.proxy.fetch;

import io.millrace.proxy.fetch.http2.ConnectionListener;
import io.millrace.proxy.fetch.http2.Http2ClientConnection;
import io.millrace.proxy.fetch.http2.Http2ClientSettings;
import io.millrace.proxy.fetch.http2.StreamFailure;

/**
 * One HTTP/2 connection in the connection pool of an origin. Carries several calls, each on its own stream.
 *
 * <p>Without calls, the deadline is the idle timeout. With calls, the connection sends a PING when the origin is
 * silent, and closes if the origin does not answer the PING.
 *
 * <p>Confined to one event loop.
 */
final class MultiplexedConnection implements ConnectionListener {
    private final OriginPool pool;
    private final Http2ClientConnection wire;
    private final Deadline deadline;
    private FetchSettings settings;
    private int calls;
    private boolean served;
    /** True from a PING until bytes of the origin arrive. */
    private boolean probing;
    /** True if no further call may start. */
    private boolean draining;

    private boolean closed;

    MultiplexedConnection(OriginPool pool, FetchSettings settings) {
        this.pool = pool;
        this.settings = settings;
        wire = new Http2ClientConnection(
                pool.client().http2(),
                new Http2ClientSettings(
                        settings.http2StreamsMax(), settings.http2WindowBytes(), settings.responseHeadMax()),
                this);
        deadline = new Deadline(pool.eventLoop(), this::deadlineReached);
    }

    /** The handler of the HTTP/2 frames, which is the last handler of the channel. */
    Http2ClientConnection handler() {
        return wire;
    }

    OriginPool pool() {
        return pool;
    }

    /** Returns true if one more call may start. */
    boolean hasCapacity() {
        return !draining && !closed && !probing && wire.capacity() > 0;
    }

    /** Returns true if the connection carries a call. */
    boolean isActive() {
        return calls > 0;
    }

    /** Sends a call's request on a new stream. Requires {@link #hasCapacity}. */
    void start(PooledCall call) {
        FetchSettings now = call.request().settings();
        if (now.keepAlive() || !settings.keepAlive()) {
            // A request without keep-alive, such as a health check, does not change the settings of the connection for
            // other requests.
            settings = now;
        }
        if (calls++ == 0) {
            pool.becameActive(this);
            deadline.set(settings.responseIdleTimeoutNanos());
        }
        pool.client().statistics().http2Streams++;
        pool.client().statistics().http2Requests++;
        StreamCarrier carrier = new StreamCarrier(this, wire, call, served);
        call.start(carrier);
    }

    /** Keeps the connection for later calls. It closes at the end of the idle timeout. */
    void keepIdle() {
        deadline.set(settings.keepAliveIdleNanos());
    }

    /** Records that a response was completed on this connection. */
    void served() {
        served = true;
    }

    /** Called when a call has ended. */
    void streamEnded() {
        calls--;
        pool.client().statistics().http2Streams--;
        if (calls > 0 || closed) {
            return;
        }
        pool.onIdle(this);
        if (draining) {
            wire.close();
        } else if (!settings.keepAlive() || pool.client().isClosed() || !pool.keepsIdle(settings)) {
            draining = true;
            pool.retire(this);
            wire.close();
        } else if (!probing) {
            keepIdle();
            pool.serveLater();
        }
    }

    /** Closes the connection. Call only when it has no calls. */
    void closeUnused() {
        draining = true;
        wire.close();
    }

    /** Prevents further calls from starting. The connection is closed when its calls have ended. */
    void drain() {
        draining = true;
        pool.retire(this);
    }

    /** Sends a PING after a stream has exceeded a deadline. No other call starts before the origin answers. */
    void probe() {
        if (!closed && !probing) {
            probing = true;
            wire.ping();
            deadline.set(settings.connectTimeoutNanos());
        }
    }

    private void deadlineReached() {
        if (calls == 0 && !probing) {
            closeUnused();
        } else if (probing) {
            wire.failConnection(
                    StreamFailure.Kind.RESET,
                    "no answer to a PING within " + PooledOriginClient.millis(settings.connectTimeoutNanos()));
        } else {
            probe();
        }
    }

    @Override
    public void onActivity() {
        boolean again = probing;
        probing = false;
        if (calls > 0) {
            deadline.set(settings.responseIdleTimeoutNanos());
        } else if (again) {
            keepIdle();
        }
        if (again) {
            pool.serveLater();
        }
    }

    @Override
    public void onCapacity() {
        if (hasCapacity()) {
            pool.serveLater();
        }
    }

    @Override
    public void onDraining() {
        draining = true;
        pool.retire(this);
    }

    @Override
    public void onClosed() {
        closed = true;
        deadline.cancel();
        pool.retire(this);
        pool.closed(this);
    }
}
